#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_csv.py DIRECTORY REPORT.json

Compares the tables of an export with the report, every member of every row. Prints every difference; exits
with 1 if there is one."""
import csv
import json
import sys
from pathlib import Path

TABLES = ["hosts", "processes", "windows", "clocks", "calls", "ops", "transfers", "messages", "path_times", "nics", "routes",
          "functions", "sizes", "protocols", "open", "behind", "threads", "queued", "unread", "time", "waits", "wait_roots", "collectives", "tags", "tag_senders", "slowest", "memory", "devices", "call_sites", "errors", "callers", "stacks"]
bad = 0


def complain(text):
    global bad
    bad += 1
    if bad < 20:
        print(text)


def text_of(value):
    """As a cell shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        words = [frame["label"].replace(";", ":") for frame in reversed(value) if isinstance(frame, dict)]
        return text_of(";".join(words or map(text_of, value)))
    if isinstance(value, str):
        steers = lambda c: c < " " or "\x7f" <= c < "\xa0" or "\u2028" <= c <= "\u202e" or "\u2066" <= c <= "\u2069" or c in "\u061c\u200e\u200f"
        value = "".join("?" if steers(c) else c for c in value)
        return "'" + value if value[:1] and value[0] in "=+-@" else value
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def flat(row):
    cells = {}
    for name, value in row.items():
        if isinstance(value, dict):
            cells.update({f"{name}_{inner}": text_of(value[inner]) for inner in value})
        elif name not in ("time", "ucx", "environment", "processes"):
            cells[name] = text_of(value)
    return cells


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


RANKS = {"rank": "process", "peer_rank": "peer", "src_rank": "src", "dst_rank": "dst"}


ranks = {}  # number of a process -> its rank, as cells


def with_ranks(row, want):
    """Beside each number of a process is its rank."""
    return dict({name: ranks.get(want.get(member, ""), "") for name, member in RANKS.items() if name in row}, **want)


def compare(name, rows, expected):
    if len(rows) != len(expected):
        complain(f"{name}: {len(rows)} rows, {len(expected)} in the report")
    for number, (row, want) in enumerate(zip(rows, expected)):
        want = with_ranks(row, want)
        for member, value in want.items():
            if row.get(member) != value:
                complain(f"{name} row {number}: {member} is {row.get(member)!r}, in the report {value!r}")
        for member in set(row) - set(want):
            if row[member] != "":
                complain(f"{name} row {number}: {member} is {row[member]!r}, not in the report")


def totals(report):
    for section, value in report.items():
        if section in TABLES:
            continue
        if section == "derived":
            yield from ((section, text_of(row["function"]), name, text_of(number))
                        for row in value for name, number in row.items() if name != "function")
            continue
        if not isinstance(value, dict):
            yield section, "", "", text_of(value)
            continue
        for name, inner in value.items():
            if isinstance(inner, dict):
                yield from ((section, name, text_of(reason), text_of(count))
                            for reason, count in inner.items())
            elif isinstance(inner, list):
                yield from ((section, name, "", text_of(word)) for word in inner)
            else:
                yield section, name, "", text_of(inner)


def main():
    folder, report = Path(sys.argv[1]), json.load(open(sys.argv[2], encoding="utf-8"))
    ranks.update((text_of(process["id"]), text_of(process["rank"])) for process in report["processes"])
    for name in TABLES:
        if (folder / f"{name}.csv").exists() != (name in report):
            complain(f"{name}: a table in only one of both")
        elif name in report:
            compare(name, read(folder / f"{name}.csv"), [flat(row) for row in report[name]])
    compare("ucx", read(folder / "ucx.csv"),
            [dict(flat(ucx), process=str(process["id"])) for process in report["processes"]
             for ucx in process["ucx"]])
    compare("environment", read(folder / "environment.csv"),
            [dict(flat(variable), process=str(process["id"])) for process in report["processes"]
             for variable in process["environment"] or []])
    if report.get("devices"):
        compare("device_users", read(folder / "device_users.csv"),
                [dict(flat(user), host=str(device["host"]), name=device["name"])
                 for device in report["devices"] for user in device["processes"]])
    compare("totals", read(folder / "totals.csv"),
            [dict(zip(("section", "name", "reason", "value"), row)) for row in totals(report)])
    print(f"{bad} differences")
    return bad > 0


sys.exit(main())
