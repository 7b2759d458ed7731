#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the call sites of a report with what a program with tests/progs/paths.h says of itself.

usage: check_paths.py REPORT.json LEDGERS [--op OP] [--stripped] [--stacks all|some]
  LEDGERS     folder with the program's RANK.paths
  --op        its sends are such operations of UCP, outside MPI; else they are MPI_Send
  --stripped  the program had no symbols and no lines when it was traced
  --stacks    every frame of every stack as well; some: the trace was over a part of the run

Prints one line per difference and exits with 1 if there was any.
"""
import argparse
import json
import sys
from collections import Counter
from pathlib import Path


def read_paths(ledgers):
    """[(count, function, line, ["module+offset"...])...] of rank 0."""
    rows = []
    for line in (ledgers / "0.paths").read_text().splitlines():
        count, function, number, *frames = line.split()
        rows.append((int(count), function, int(number), frames))
    return rows


def rows_of(report, table, key, sends):
    """Of the process that sends: rank 0, or one without MPI."""
    senders = {p["id"] for p in report["processes"] if p["rank"] in (0, None)}
    return [row for row in report[table] if row["process"] in senders and row[key] == sends]


def sites(report, op):
    """The program's sends: what the report knows of where each came from -> count."""
    return rows_of(report, "callers", "op", op) if op else rows_of(report, "call_sites", "function", "MPI_Send")


def compare(seen, true):
    keys = sorted(set(seen) | set(true), key=str)
    return [f"sends from {key}: report says {seen[key]}, true is {true[key]}"
            for key in keys if seen[key] != true[key]]


def check_named(report, paths, op):
    seen, true = Counter(), Counter()
    for row in sites(report, op):
        seen[row["symbol"], Path(row["file"] or "none").name, row["line"]] += row["count"]
    for count, function, line, _ in paths:
        true[function, "paths.h", line] += count
    return compare(seen, true)


def check_stripped(report, paths, op):
    """Without names every place is still told from the others by its offset."""
    places, true = Counter(), Counter()
    for row in sites(report, op):
        places[row["offset"]] += row["count"]
        if row["symbol"] or row["file"] or row["line"] is not None or not row["module"]:
            return [f"a stripped program has no names: {row}"]
    for count, function, line, _ in paths:
        true[function, line] += count
    return compare(Counter(sorted(places.values())), Counter(sorted(true.values())))


def frame_name(module, offset):
    return f"{Path(module.removesuffix(' (deleted)')).name}+{offset}" if module else "unknown"


def is_inside_ucp(frame):
    return Path(frame["module"] or "").name.startswith("libucp.so")


def stacks(report, op):
    """The callers of each send's function, as the report has them -> count."""
    seen = Counter()
    for row in rows_of(report, "stacks", "function", op or "MPI_Send"):
        # a function of UCP's older API, which makes the operation
        frames = row["frames"][1:] if is_inside_ucp(row["frames"][0]) else row["frames"]
        callers = (frame_name(f["module"], f["offset"]) for f in frames[1:])
        seen[row["end"], frames[0]["line"], *callers] += row["count"]
    return seen


def true_stacks(paths):
    true = Counter()
    for count, _, line, frames in paths:
        names = (frame_name(*frame.rsplit("+", 1)) for frame in frames)
        true[None, line, *names] += count
    return true


def check_stacks(report, paths, op, which):
    seen, true = stacks(report, op), true_stacks(paths)
    if which == "all":
        return compare(seen, true)
    return ([f"no such path: {path}" for path in seen if path not in true]
            + [f"not seen: {path}" for path in true if path not in seen]
            + [f"more than there were: {path}" for path in seen if seen[path] > true[path]])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("report", type=Path)
    arguments.add_argument("ledgers", type=Path)
    arguments.add_argument("--op")
    arguments.add_argument("--stripped", action="store_true")
    arguments.add_argument("--stacks", choices=["all", "some"])
    options = arguments.parse_args()
    report = json.loads(options.report.read_text())
    paths = read_paths(options.ledgers)
    check = check_stripped if options.stripped else check_named
    differences = [] if options.stacks == "some" else check(report, paths, options.op)
    if options.stacks:
        differences += check_stacks(report, paths, options.op, options.stacks)
    print("\n".join(differences))
    return bool(differences)


sys.exit(main())
