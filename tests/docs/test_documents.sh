#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0

# What the documents say is so: the first program of the README compiles, runs and prints what it is said
# to print; links lead somewhere; the table of drop reasons is that of the header.

set -euo pipefail
readonly source=${TROUPE_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
readonly build=${TROUPE_BUILD_DIR:-$source/build/release}
cd "$source"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    failures=$((failures + 1))
}

# between FILE MARK: the lines between `<!-- MARK: begin ... -->` and `<!-- MARK: end -->`.
between() {
    sed -n "/<!-- $2: begin/,/<!-- $2: end/p" "$1" | sed '1d;$d'
}

the_first_program_does_what_it_says() {
    between README.md "first program" | sed '/^```/d' >"$scratch/first.c"
    between README.md "first output" | sed 's/^    //' >"$scratch/expected"
    local lines
    lines=$(wc -l <"$scratch/first.c")
    [ "$lines" -gt 20 ] && [ "$lines" -le 41 ] || fail "the first program has $lines lines"
    if [ ! -e "$build/libtroupe.so" ]; then
        cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -Iinclude "$scratch/first.c" || fail "first.c does not compile"
        return
    fi
    cc -std=c11 -Wall -Wextra -Werror -Iinclude "$scratch/first.c" -o "$scratch/first" \
        -L"$build" -ltroupe -Wl,-rpath,"$build" || { fail "first.c does not compile" && return; }
    "$scratch/first" >"$scratch/printed" || fail "first ended with $?"
    diff -u "$scratch/expected" "$scratch/printed" || fail "first does not print what the README says"
}

# anchors FILE: the fragments that its headings have, as web views of Markdown make them.
anchors() {
    sed -n 's/^##* //p' "$1" | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

links_lead_somewhere() {
    local file link path fragment
    for file in ./*.md docs/*.md docs/internals/*.md; do
        while read -r link; do
            case $link in http*) continue ;; esac
            path=${link%%#*}
            fragment=
            [ "$path" = "$link" ] || fragment=${link#*#}
            path=${path:+$(dirname "$file")/$path}
            path=${path:-$file}
            [ -e "$path" ] || { fail "$file: $link leads nowhere" && continue; }
            [ -z "$fragment" ] || anchors "$path" | grep -qx -- "$fragment" || fail "$file: $link: no such heading"
        done < <(sed '/^```/,/^```/d' "$file" | grep -o '\](\([^)]*\))' | sed 's/^](//; s/)$//')
    done
}

drop_reasons_are_those_of_the_header() {
    sed -n 's/^ *X(\([A-Z_]*\), "\([^"]*\)").*/TROUPE_DROP_\1|\2/p' include/troupe/events.h >"$scratch/header"
    between docs/guarantees.md "drop reasons" |
        sed -n 's/^| `\([A-Z_]*\)` | \([^|]*\) |.*/\1|\2/p' >"$scratch/table"
    diff -u "$scratch/header" "$scratch/table" || fail "docs/guarantees.md has other drop reasons than events.h"
}

headers_are_all_listed() {
    local header
    for header in include/troupe/*.h; do
        header=$(basename "$header")
        [ "$header" = troupe.h ] || grep -q "\`$header\`" docs/api.md || fail "docs/api.md does not list $header"
        [ "$header" = troupe.h ] || grep -q "<troupe/$header>" include/troupe/troupe.h || fail "troupe.h does not include $header"
    done
}

the_first_program_does_what_it_says
links_lead_somewhere
drop_reasons_are_those_of_the_header
headers_are_all_listed
[ "$failures" -eq 0 ]
