#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the numbers of collective calls with the counts of mpi_numbers, by communicator.

usage: check_numbers.py EVENTS.ndjson TRUTH

Calls of the world have the context 0 and the numbers 1 to its count; those of the other communicators have others, as
long as none was freed, and then no number, but for a handle that was not used before. Operations that messages join
have one number. Prints one line per difference and exits with 1 if there was any.
"""
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

bad = 0


def same(what, found, wanted):
    global bad
    if found != wanted:
        print(f"{what}: {found}, true is {wanted}")
        bad += 1


def alltoalls(truth):
    """Of the world, at the end of jobs over tcp."""
    return sum(call["count"] for call in truth["calls"] if call["name"] == "MPI_Alltoall")


def main():
    events = [json.loads(line) for line in Path(sys.argv[1]).open()]
    ranks = {event["id"]: event["rank"] for event in events if event["event"] == "process"}
    numbers = defaultdict(list)
    for event in sorted((event for event in events if event["event"] == "call"), key=lambda event: event["start"]):
        if event["function"] in ("MPI_Allreduce", "MPI_Bcast", "MPI_Barrier", "MPI_Alltoall"):
            numbers[ranks[event["process"]], event["context"]].append(event["sequence"])
    for rank in range(4):
        truth = json.loads((Path(sys.argv[2]) / f"{rank}.json").read_text())
        counts = truth["collectives"]
        own = {context: found for (of, context), found in numbers.items() if of == rank}
        world = counts["world"] + alltoalls(truth)
        same(f"rank {rank}, world", own.pop(0, None), list(range(1, world + 1)))
        same(f"rank {rank}, all calls", sum(map(len, own.values())), counts["row"] + counts["column"] + counts["later"])
        found = Counter(number for context in own.values() for number in context)
        wanted = Counter(range(1, counts["row"] + 1)) + Counter(range(1, counts["column"] - 1))
        later = Counter(range(1, counts["later"] + 1))
        unknown = found.pop(None, 0)
        if unknown == 2:  # the communicator that was made last has a handle of its own
            wanted += later
        else:
            same(f"rank {rank}, unknown", unknown, 2 + counts["later"])
        same(f"rank {rank}, others", found, wanted)
    same("contradicted", [event for event in events if event["event"] == "collective" and event["contradicted"]], [])
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
