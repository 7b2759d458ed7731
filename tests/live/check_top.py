#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Usage: check_top.py SCHEMA TOP FOLDER [RANK...]

TOP has what `ucxbpf top --json` printed about mpi_rate. Each interval must fit the schema and follow the one before.
What each rank did in all of them must be what FOLDER/RANK.log says of that time, within 2 %. Prints the number of
intervals."""
import bisect
import json
import sys

import jsonschema

SHARE = 0.02


def at(log, time):
    """The ledger at that time: between two lines, in proportion."""
    i = bisect.bisect(log, [time])
    assert 0 < i < len(log), f"the ledger does not cover {time}: {log[0][0]} to {log[-1][0]}"
    (before, *low), (after, *high) = log[i - 1], log[i]
    part = (time - before) / (after - before)
    return [a + part * (b - a) for a, b in zip(low, high)]


def near(name, seen, true):
    assert abs(seen - true) <= SHARE * true, f"{name}: {seen} seen, {true:.1f} in the ledger"


def check(intervals, rank, folder):
    log = [[int(word) for word in line.split()] for line in open(f"{folder}/{rank}.log")]
    rows = [next(p for p in one["processes"] if p["rank"] == rank) for one in intervals]
    begin, end = at(log, intervals[0]["from_ns"]), at(log, intervals[-1]["to_ns"])
    calls, sends, size = (b - a for a, b in zip(begin, end))
    near(f"rank {rank}: calls", sum(row["calls"]["count"] for row in rows), calls)
    near(f"rank {rank}: sends", sum(row["sends"]["count"] for row in rows), sends)
    near(f"rank {rank}: bytes", sum(row["sends"]["bytes"] for row in rows), size)
    for one, row in zip(intervals, rows):
        seconds = one["watched_ns"] / 1e9
        assert abs(row["sends"]["per_s"] * seconds - row["sends"]["count"]) < 1e-6 * row["sends"]["count"] + 1e-6
        assert row["whole"], row
    near(f"rank {rank}: out", sum(row["out"]["bytes"] for row in rows), size)
    other = [next(p for p in one["processes"] if p["rank"] == 1 - rank) for one in intervals]
    assert sum(row["in"]["bytes"] for row in other) == sum(row["out"]["bytes"] for row in rows)
    assert rows[-1]["sends"]["total"] == sum(row["sends"]["count"] for row in rows)


def main():
    schema, path, folder, *ranks = sys.argv[1:]
    schema = json.load(open(schema))
    intervals = [json.loads(line) for line in open(path)]
    for one in intervals:
        jsonschema.validate(one, schema)
    for before, after in zip(intervals, intervals[1:]):
        assert after["from_ns"] == before["to_ns"] and after["n"] == before["n"] + 1
    for rank in ranks or [0, 1]:
        check(intervals, int(rank), folder)
    print(len(intervals))


main()
