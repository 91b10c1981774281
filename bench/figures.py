#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the figures of figures.tsv and says which hold.

Python (its standard library alone) rather than C: it reads a table and JSON, starts programs and
prints; nothing here is measured, and every machine that runs the checks has it.
"""

import argparse
import json
import operator
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("group", "name", "command", "select", "field", "bound", "scale")
FIELDS = ("median", "ratio", "allocs_per_msg", "lost")
COMPARISONS = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
COMMAND_SECONDS_MAX = 600
# "No allocation a message" leaves room for the few messages of control that a run needs.
ALLOCS_TOLERANCE = 0.0005


class TableError(Exception):
    """The table of figures is malformed."""


def read_figures(path):
    """The rows of the table as dictionaries."""
    figures = []
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            values = line.split("\t")
            figure = dict(zip(COLUMNS, values))
            if len(values) != len(COLUMNS) or figure["field"] not in FIELDS:
                raise TableError(f"{path}:{number}: not a figure")
            comparison, bound = figure["bound"].split()
            if comparison not in COMPARISONS or figure["scale"] not in ("rate", "time", "none"):
                raise TableError(f"{path}:{number}: unknown comparison or scale")
            figure["comparison"], figure["bound"] = comparison, float(bound)
            figures.append(figure)
    return figures


def run_command(program, command):
    """The rows of one run of the benchmark, or an error text."""
    words = [program, *command.split(), "--json"]
    try:
        done = subprocess.run(
            words, stdout=subprocess.PIPE, timeout=COMMAND_SECONDS_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    try:
        return json.loads(done.stdout), None if done.returncode == 0 else (
            f"exit status {done.returncode}"
        )
    except ValueError:
        return None, f"exit status {done.returncode}, no JSON"


def matches(row, select):
    """Whether a row has every value that `select` names."""
    values = {**row["params"], "case": row["case"], "bench": row["bench"]}
    wanted = (part.split("=", 1) for part in select.split())
    return all(str(values.get(key)) == value for key, value in wanted)


def box_scale(rows):
    """The speed of the machine during the run, as a share of the reference machine's."""
    for row in rows:
        if row["bench"] == "box" and row["case"] == "scale":
            return row["median"]
    return 1.0


def scaled_bound(figure, scale):
    """The bound at that speed of the machine."""
    if figure["scale"] == "rate":
        return figure["bound"] * scale
    if figure["scale"] == "time":
        return figure["bound"] / scale
    if figure["field"] == "allocs_per_msg":
        return figure["bound"] + ALLOCS_TOLERANCE
    return figure["bound"]


def number(value):
    """A number as people read it."""
    if value is None:
        return "-"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.2f} M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:.1f} k"
    return f"{value:.4g}"


def judge(figure, rows):
    """(holds, bound, worst row) of a figure; the worst row is None when nothing was measured."""
    bound = scaled_bound(figure, box_scale(rows))
    compare = COMPARISONS[figure["comparison"]]
    found = [row for row in rows if matches(row, figure["select"])]
    found = [row for row in found if row[figure["field"]] is not None]
    if not found:
        return False, bound, None
    pick = min if figure["comparison"].startswith(">") else max
    worst = pick(found, key=lambda row: row[figure["field"]])
    return compare(worst[figure["field"]], bound), bound, worst


def show(figure, holds, bound, worst):
    """One line of the result."""
    measured = "not measured"
    ratio = "-"
    if worst is not None:
        value = worst[figure["field"]]
        measured = number(value)
        if figure["field"] == "median":
            measured += f" ({number(worst['median'])}, {number(worst['min'])}, {number(worst['max'])})"
        elif figure["field"] == "ratio":
            measured += f" [{number(worst['median'])}, {number(worst['min'])}, {number(worst['max'])}]"
        ratio = number(worst["ratio"])
    limit = f"{figure['comparison']} {number(bound)}"
    verdict = "holds" if holds else "FALLS SHORT"
    print(f"{figure['name']:<64} {limit:>12}  {measured:<38} {ratio:>7}  {verdict}", flush=True)


def main():
    """Runs the chosen groups; 0 when all figures hold, 1 when one falls short."""
    parser = argparse.ArgumentParser(description="Runs the figures that Troupe must reach.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="groups to run (all)")
    parser.add_argument("--program", default="troupe-bench", help="the benchmark program")
    parser.add_argument("--table", default=os.path.join(HERE, "figures.tsv"))
    parser.add_argument("--only", metavar="TEXT", help="only figures whose name has this text")
    parser.add_argument("--list", action="store_true", help="list the figures without running them")
    arguments = parser.parse_args()
    try:
        figures = read_figures(arguments.table)
    except (OSError, ValueError, TableError) as error:
        parser.error(str(error))
    groups = {figure["group"] for figure in figures}
    for group in arguments.groups:
        if group not in groups:
            parser.error(f"no group '{group}'; there are: {', '.join(sorted(groups))}")
    wanted = set(arguments.groups or groups)
    figures = [figure for figure in figures if figure["group"] in wanted]
    if arguments.only:
        figures = [figure for figure in figures if arguments.only in figure["name"]]
    if arguments.list:
        for figure in figures:
            print(f"{figure['group']:<8} {figure['name']}: {figure['field']} "
                  f"{figure['comparison']} {number(figure['bound'])} ({figure['scale']})")
        return 0
    return run_figures(arguments.program, figures)


def run_figures(program, figures):
    """Runs each command once and judges its figures."""
    start = time.monotonic()
    short = 0
    print(f"{'name':<64} {'bound':>12}  {'measured (median, min, max)':<38} {'ratio':>7}")
    for command in dict.fromkeys(figure["command"] for figure in figures):
        rows, error = run_command(program, command)
        if error:
            print(f"troupe-bench {command}: {error}", file=sys.stderr)
        for figure in figures:
            if figure["command"] == command:
                holds, bound, worst = judge(figure, rows or [])
                show(figure, holds, bound, worst)
                short += not holds
    print(f"{len(figures) - short} of {len(figures)} figures hold; "
          f"{time.monotonic() - start:.0f} s")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
