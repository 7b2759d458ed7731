#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the reports of two runs of a program that does the same each time, however each was traced.

usage: check_runs.py ONE.json OTHER.json

By rank: calls, operations, data transfers and messages, with their bytes. Left out is what is not seen while probes are
away (docs/derived.md): control traffic, and attempts that found no resources. Prints one line per difference and exits with 1
if there was any.
"""
import json
import sys
from collections import Counter

# by what, and which sums
TABLES = {
    "calls": (("process", "function"), ("count", "ops", "bytes")),
    "ops": (("process", "op", "function", "protocol"), ("count", "bytes")),
    "transfers": (("process", "op", "transport", "device", "protocol", "ucp_op", "peer"), ("count", "bytes", "wire_bytes")),
    "messages": (("src", "dst", "function"), ("count", "bytes")),
    "sizes": (("from_bytes", "most_bytes"), ("messages", "bytes")),
}


def rows(report, table):
    keys, sums = TABLES[table]
    ranks = {process["id"]: process["rank"] for process in report["processes"]}
    out = Counter()
    for row in report[table]:
        if row.get("kind", "data") != "data":
            continue
        key = tuple(ranks.get(row[k]) if k in ("process", "peer", "src", "dst") else row[k] for k in keys)
        for name in sums:
            out[key, name] += row[name]
    return +out


def main():
    one, other = (json.load(open(path)) for path in sys.argv[1:3])
    bad = [f"{table} {key}: {name} {one_of[key, name]}, {other_of[key, name]}"
           for table in TABLES for one_of, other_of in [(rows(one, table), rows(other, table))]
           for key, name in sorted(set(one_of) | set(other_of), key=str) if one_of[key, name] != other_of[key, name]]
    for name in ("sends", "receives", "matched"):
        if one["matching"][name] != other["matching"][name]:
            bad.append(f"{name}: {one['matching'][name]}, {other['matching'][name]}")
    print("\n".join(bad))
    return bool(bad)


sys.exit(main())
