#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_filter.py EVENTS.ndjson SELECTED.ndjson REPORT.json FIELD=GLOB

What a filter on a field of transfers selects, found out again from all events of the captures: the transfers with such a
value, the operations that caused them, the calls that made those, the messages whose send or receive is one of
them. Compared with an export and a report that were made with the filter. Prints each difference; exits with 1 if
there is one."""
import fnmatch
import json
import sys

bad = 0


def same(what, got, want):
    global bad
    if got != want:
        bad += 1
        print(f"{what}: {got}, from all events {want}")


def events(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def of(rows, kind):
    return [row for row in rows if row["event"] == kind]


def known(rows):
    return sum(row["bytes"] for row in rows if row["bytes"] is not None)


def main():
    everything, selected = events(sys.argv[1]), events(sys.argv[2])
    with open(sys.argv[3], encoding="utf-8") as file:
        report = json.load(file)
    field, pattern = sys.argv[4].split("=", 1)
    transfers = [row for row in of(everything, "transfer") if fnmatch.fnmatch(row[field] or "none", pattern)]
    sums = [row for row in of(everything, "transfers") if fnmatch.fnmatch(row[field] or "none", pattern)]
    causes = {row["caused_by"] for row in transfers + sums if row["caused_by"]}
    ops = [row for row in of(everything, "op") if row["id"] in causes]
    made = {row["call"] for row in ops if row["call"]}
    calls = [row for row in of(everything, "call") if row["id"] in made]
    messages = [row for row in of(everything, "message") if causes & {row["send"], row["recv"]}]

    for kind, want in ("op", ops), ("call", calls), ("message", messages), ("transfer", transfers):
        same(f"{kind}s of the export", len(of(selected, kind)), len(want))
    for kind, want in ("op", ops), ("call", calls):
        other = {row["id"] for row in of(selected, kind)} ^ {row["id"] for row in want}
        same(f"{kind}s in one of both alone", sorted(other)[:10], [])
    for kind, layer, want in ("op", "ops", ops), ("call", "calls", calls), ("message", "messages", messages):
        row = report["selected"][layer]
        whole = of(everything, kind)
        same(f"{layer} of the report", row, {"count": len(want), "of": len(whole), "unknown": 0, "bytes": known(want),
                                             "bytes_of": known(whole)})
    moved = [row for row in transfers if not row["retried"]]
    count = len(moved) + sum(row["count"] for row in sums)
    same("transfers of the report", report["selected"]["transfers"]["count"], count)
    same("bytes of transfers", report["selected"]["transfers"]["bytes"], known(moved) + sum(row["bytes"] for row in sums))
    same("calls in rows", sum(row["count"] for row in report["calls"]), len(calls))
    same("nothing", "there_is" in report, not count)
    print(f"{field}={pattern}: {count} transfers, {len(ops)} operations, {len(calls)} calls, {len(messages)} messages")
    return bad > 0


sys.exit(main())
