# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

"""The house rules that no ready tool knows: heads and guards of files, arrows between rooms, cycles,
owners of foreign libraries, forbidden calls, lengths, counts of parameters, and that the exported symbols are the
declared ones.

    house.py [--knots]       all rules on the tree; --knots names modules that need one another
    house.py symbols FILE    FILE lists the exported symbols
"""

import json
import pathlib
import re
import subprocess
import sys

# Each room may include itself and the rooms of the lines above it that it names.
BELOW = {
    "base": [],
    "sim": ["base"],
    "actor": ["base"],
    "net/link": ["base", "actor"],
    "net/gateway": ["base", "actor"],
    "cluster": ["base", "actor", "net/link"],
    "pubsub": ["base", "actor", "net/link", "cluster"],
}
MIDDLE = list(BELOW)
for upper in ("reliable", "entity", "rpc", "hub"):
    BELOW[upper] = MIDDLE
BELOW["node"] = MIDDLE + ["reliable", "entity", "rpc", "hub"]

# Foreign headers and the only places that may include them.
FOREIGN = [
    (r"zmq\.h", r"src/net/link/|bench/|tests/"),
    (r"openssl/", r"src/net/|src/node/|src/rpc/|tools/|tests/"),
    (r"msgpack", r"src/(net/link|cluster|pubsub|rpc)/|src/[a-z/]*codec|tests/|bench/"),
    (r"uthash\.h", r"src/base/table\.h"),
    (r"libfyaml\.h", r"src/node/"),
    (r"cjson/", r"src/node/|tools/|bench/|tests/"),
    (r"troupe/troupe\.h", r"examples/|tests/|tools/|bench/|README"),
]

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 500
HEADER_LINES_MAX = 200
PARAMETERS_MAX = 6
# On the path of every message: a struct of options would have to be filled for each.
PARAMETERS_ALLOWED = {"troupe_ask", "troupe_inbox_ask", "troupe_port_tell"}
# Headers never include one another in a circle. Sources of one room may: a dispatcher runs activations,
# which spawn, which asks the dispatcher. This is how many modules do; it may sink, never rise.
KNOTTED_MODULES_MAX = 60
# The public headers hold the reference documentation, so they may be longer than inner ones.
PUBLIC_HEADER_LINES_MAX = 300

# Calls that the library makes in one place at most: the door to the allocator, the clocks, the seeded
# randomness; and those that no library should make.
CALLS = re.compile(
    r"(?<![\w.>])(malloc|calloc|realloc|free|strdup|strndup|asprintf|posix_memalign|aligned_alloc|"
    r"printf|puts|perror|exit|_exit|abort|signal|sigaction|rand|srand|random|time|gettimeofday|"
    r"clock_gettime|sleep|usleep|nanosleep|strtok|strerror|localtime|gmtime|setenv|putenv)\s*\(")
CALLS_ALLOWED = r"src/base/(memory|assert|clock)\.c"

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def files(*folders):
    found = []
    for folder in folders:
        root = pathlib.Path(folder)
        found += [p for p in root.rglob("*.[ch]")] + [p for p in root.rglob("*.cpp")]
    return sorted(found)


def room_of(path):
    """The room of a path below src/ or of an inner include; None for anything else."""
    text = str(path)
    text = text[4:] if text.startswith("src/") else text
    for room in sorted(BELOW, key=len, reverse=True):
        if text.startswith(room + "/"):
            return room
    return None


def guard_of(path):
    parts = path.parts
    parts = parts[2:] if parts[0] == "include" else parts[1:]
    if parts[0] == "net":
        parts = parts[1:]
    return "TROUPE_" + re.sub(r"[^A-Z0-9]", "_", "_".join(parts).upper())


def check_heads(errors):
    for path in files("include", "src", "tools", "bench", "tests", "examples"):
        text = path.read_text()
        lines = text.split("\n")
        if "SPDX-FileCopyrightText:" not in lines[0] or "SPDX-License-Identifier:" not in lines[1]:
            errors.append(f"{path}: the first two lines must be the SPDX lines")
        if path.suffix == ".h" and path.parts[0] in ("include", "src"):
            guard = guard_of(path)
            if f"#ifndef {guard}\n#define {guard}\n" not in text:
                errors.append(f"{path}: the guard must be {guard}")


def check_arrows(errors):
    for path in files("src"):
        room = room_of(path)
        if room is None:
            errors.append(f"{path}: in no room of the house")
            continue
        for kind, name in INCLUDE.findall(path.read_text()):
            target = room_of(name)
            if kind == '"' and target is None:
                errors.append(f'{path}: "{name}" is to be named by its room')
            if kind == '"' and target not in (room, None) and target not in BELOW[room]:
                errors.append(f"{path}: {room} must not include {target} ({name})")


def check_foreign(errors):
    for path in files("include", "src", "tools", "bench", "tests", "examples"):
        for _, name in INCLUDE.findall(path.read_text()):
            for header, places in FOREIGN:
                if re.match(header, name) and not re.match(places, str(path)):
                    errors.append(f"{path}: {name} belongs to {places}")
                    break


def strip(text):
    """The text without comments and strings; lines keep their numbers."""
    def blank(match):
        return "\n" * match.group(0).count("\n")

    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def check_calls(errors):
    for path in files("src"):
        if re.match(CALLS_ALLOWED, str(path)):
            continue
        for number, line in enumerate(strip(path.read_text()).split("\n"), 1):
            for name in CALLS.findall(line):
                errors.append(f"{path}:{number}: {name}() is not for this file")


def module_of(name):
    return re.sub(r"\.[ch]$", "", name)


def read_graph(root, prefix, pattern="*.[ch]"):
    """Modules (pairs of .c and .h) and the modules that they include; only those of their headers with
    the pattern *.h."""
    graph = {}
    for path in files(root):
        if not path.match(pattern):
            continue
        module = module_of(str(path.relative_to(prefix)))
        wanted = graph.setdefault(module, set())
        for _, name in INCLUDE.findall(path.read_text()):
            if (pathlib.Path(prefix) / name).exists() and module_of(name) != module:
                wanted.add(module_of(name))
    return graph


def find_cycles(graph):
    """Tarjan's strongly connected components that hold more than one module."""
    index, low, stack, on_stack, cycles = {}, {}, [], set(), []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        on_stack.add(module)
        for other in sorted(graph.get(module, ())):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in on_stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            component = []
            while not component or component[-1] != module:
                component.append(stack.pop())
                on_stack.discard(component[-1])
            if len(component) > 1:
                cycles.append(sorted(component))

    sys.setrecursionlimit(10000)
    for module in sorted(graph):
        if module not in index:
            visit(module)
    return cycles


def check_cycles(errors):
    for root, prefix in (("src", "src"), ("include", "include"), ("bench", "bench")):
        for cycle in find_cycles(read_graph(root, prefix, "*.h")):
            errors.append(f"{root}: these headers include one another: {' '.join(cycle)}")
    graph = read_graph("src", "src")
    knots = find_cycles(graph)
    knotted = sum(len(knot) for knot in knots)
    print(f"house: {len(graph)} modules, {knotted} of them in {len(knots)} knots")
    if "--knots" in sys.argv:
        for knot in knots:
            print(" ".join(knot))
    if knotted > KNOTTED_MODULES_MAX:
        errors.append(f"src: {knotted} modules need one another in a circle (their sources counted), "
                      f"the bound is {KNOTTED_MODULES_MAX}: house.py --knots shows them")


def read_functions():
    command = ["ctags", "--languages=C", "--kinds-C=f", "--fields=+neS", "--output-format=json",
               "-f", "-"]
    paths = [str(p) for p in files("src", "tools", "bench", "tests") if p.suffix == ".c"]
    out = subprocess.run(command + paths, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def count_parameters(signature):
    depth, count = 0, 1
    for char in signature.strip()[1:-1]:
        depth += char == "("
        depth -= char == ")"
        count += char == "," and depth == 0
    return count


def check_lengths(errors):
    lengths = []
    for function in read_functions():
        if "end" not in function:
            continue
        lines = function["end"] - function["line"] + 1
        place = f"{function['path']}:{function['line']}: {function['name']}"
        if function["path"].startswith("src/"):
            lengths.append(lines)
        if lines > FUNCTION_LINES_MAX:
            errors.append(f"{place} has {lines} lines, more than {FUNCTION_LINES_MAX}")
        parameters = count_parameters(function.get("signature", "()"))
        if parameters > PARAMETERS_MAX and function["name"] not in PARAMETERS_ALLOWED:
            errors.append(f"{place} has {parameters} parameters, more than {PARAMETERS_MAX}")
    for path in files("include", "src", "tools", "bench", "tests"):
        count = len(path.read_text().splitlines())
        limit = FILE_LINES_MAX
        if path.suffix == ".h":
            public = path.parts[0] == "include"
            limit = PUBLIC_HEADER_LINES_MAX if public else HEADER_LINES_MAX
        if count >= limit and path.parts[0] != "tests":
            errors.append(f"{path}: {count} lines, the bound is {limit}")
    lengths.sort()
    if lengths:
        print(f"house: {len(lengths)} functions, median {lengths[len(lengths) // 2]} lines, "
              f"90 % within {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}")


def check_symbols(path):
    exported = set(pathlib.Path(path).read_text().split())
    declared = set()
    for header in files("include"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
        for match in re.finditer(r"TROUPE_API\b([^;{]*)[;{]", text):
            names = re.findall(r"\b(troupe_[a-z0-9_]+)\s*(?:\(|$|\[)", match.group(1))
            declared.add(names[0] if names else match.group(1).split()[-1])
    errors = [f"{name} is exported but no public header declares it" for name in exported - declared]
    errors += [f"{name} is declared but not exported" for name in declared - exported]
    return errors


def main():
    errors = []
    if len(sys.argv) == 3 and sys.argv[1] == "symbols":
        errors = check_symbols(sys.argv[2])
    else:
        for check in (check_heads, check_arrows, check_foreign, check_calls, check_cycles,
                      check_lengths):
            check(errors)
    for error in errors:
        print(error)
    return 1 if errors else 0


sys.exit(main())
