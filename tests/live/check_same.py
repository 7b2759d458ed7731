#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the sums of a capture made with --count with the records of another tracer on the same run.

usage: check_same.py COUNT.json RECORDS.json

Calls by function, operations by function, transfers by transport, verb, pair and kind must agree to the
last number; of operations whose bytes are not all known, and of probes, which move none, the count. Who made a transfer is left out: the
other tracer's return probes hide it; but no more is put down to a function than records do, if all are there. Prints one line per
difference and exits with 1 if there was any.
"""
import json
import sys
from collections import defaultdict

CALLS = ("count", "ops")
OPS = ("count", "bytes")
TRANSFERS = ("count", "bytes", "wire_bytes", "retries")


def sums(report, table, keys, fields):
    pids = {p["id"]: p["tgid"] for p in report["processes"]}
    rows = defaultdict(lambda: [0] * len(fields))
    for row in report[table]:
        key = tuple(pids.get(row[k]) if k in ("process", "peer") else row[k] for k in keys)
        for i, field in enumerate(fields):
            rows[key][i] += row[field]
    return {key: row for key, row in rows.items() if any(row)}


def transfers(report, unsized_in):
    """Of control traffic neither report knows all peers; of what is partly unsized, the wire bytes alone."""
    keys = ("process", "op", "transport", "device", "kind")
    data = dict(report, transfers=[r for r in report["transfers"] if r["kind"] == "data"])
    rows = {**sums(report, "transfers", keys, TRANSFERS), **sums(data, "transfers", (*keys, "peer"), TRANSFERS)}
    pids = {p["id"]: p["tgid"] for p in unsized_in["processes"]}
    for row in unsized_in["transfers"]:
        key = (pids.get(row["process"]), *(row[k] for k in keys[1:]))
        for some in (key, (*key, pids.get(row["peer"]))) if row["bytes_unknown"] else ():
            if some in rows:
                rows[some][1] = None
    return rows


def no_more(count, records):
    """What was fetched, by function; a send that waits may go out in another operation, and count as that one's."""
    def by_function(report):
        data = [r for r in report["transfers"] if r["op"].startswith("get") and r["kind"] == "data" and r["function"]]
        return sums(dict(report, transfers=data), "transfers", ("process", "op", "transport", "function"), ("count",))

    recorded = by_function(records)
    for key, (number,) in sorted(by_function(count).items()):
        if number > recorded.get(key, [0])[0]:
            yield f"transfers of {key}: counted {number}, recorded {recorded.get(key, [0])[0]}"


def unsized(report):
    pids = {p["id"]: p["tgid"] for p in report["processes"]}
    return {(pids[r["process"]], r["op"], r["function"]) for r in report["ops"]
            if r["bytes_unknown"] or r["op"] == "tag_probe"}


def compare(name, count, records):
    for key in sorted(set(count) | set(records), key=str):
        if count.get(key) != records.get(key):
            yield f"{name} {key}: counted {count.get(key)}, recorded {records.get(key)}"


def unplaced(count, records):
    """Rings that were full may lack the names of interfaces: transfers of an unknown transport belong to others.

    Yields differences of the verbs concerned, and takes their rows out of both tables.
    """
    def verb_of(key):
        return key[0], key[1], key[4]

    for verb in sorted({verb_of(key) for key in set(records) - set(count) if key[2] == "unknown"}, key=str):
        counted, recorded = ({key: rows.pop(key) for key in list(rows) if verb_of(key) == verb}
                             for rows in (count, records))
        for i, field in enumerate(TRANSFERS):
            totals = [[row[i] for key, row in rows.items() if len(key) == 5] for rows in (counted, recorded)]
            if None not in totals[0] + totals[1] and sum(totals[0]) != sum(totals[1]):
                yield f"{field} of {verb}: counted {sum(totals[0])}, recorded {sum(totals[1])}"
        for key, row in recorded.items():
            most = counted.get(key, [0] * len(row))
            if key[2] != "unknown" and any(None not in pair and pair[0] > pair[1] for pair in zip(row, most)):
                yield f"transfers {key}: counted {most}, recorded {row}"


def main():
    count, records = (json.load(open(path)) for path in sys.argv[1:3])
    ops = [sums(r, "ops", ("process", "op", "function"), OPS) for r in (count, records)]
    for key in unsized(count) | unsized(records):
        for rows in ops:
            if key in rows:
                rows[key][1] = None
    moved = transfers(count, count), transfers(records, count)
    differences = [
        *compare("calls", *(sums(r, "calls", ("process", "function"), CALLS) for r in (count, records))),
        *compare("ops", *ops),
        *(unplaced(*moved) if records["loss"]["dropped"].get("ring full") else ()),
        *compare("transfers", *moved),
        *(() if "detail" in records else no_more(count, records)),
    ]
    print("\n".join(differences))
    return bool(differences)


sys.exit(main())
