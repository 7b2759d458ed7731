#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the records of memory in a capture with what mpi_memory wrote down, call by call.

usage: check_memory.py RECORDS TRUTH_DIR [--from-to NS NS]
    RECORDS    output of tests/bench/memory
    TRUTH_DIR  RANK.pid and RANK.memory of each rank
    --from-to  the trace began and ended in between: calls outside may be missing, at both ends
Exits with 1 and prints what differs.
"""
import argparse
import collections
import sys
from pathlib import Path

Record = collections.namedtuple("Record", "ts dur call flags")
Call = collections.namedtuple("Call", "begun ended call")

# Functions that end something: over from their beginning on.
ENDS = ("Free", "free", "Unregister", "Close", "Release", "Unmap", "Destroy", "Reset")


def records(path):
    """By process and thread: what the tracer saw, in the order of its file."""
    seen = collections.defaultdict(list)
    for line in open(path):
        tgid, tid, ts, dur, *call, flags = line.split()
        seen[int(tgid), int(tid)].append(Record(int(ts), int(dur), tuple(call), int(flags)))
    return seen


def ledger(path):
    """By thread."""
    calls = collections.defaultdict(list)
    for line in open(path):
        tid, *call, begun, ended = line.split()
        calls[int(tid)].append(Call(int(begun), int(ended), tuple(call)))
    return calls


def compare(rank, seen, calls):
    """Yields differences. Both are in the order of the calls."""
    if len(seen) != len(calls):
        yield f"rank {rank}: {len(seen)} records of {len(calls)} calls"
        wrong = collections.Counter(c.call[0] for c in calls)
        wrong.subtract(r.call[0] for r in seen)
        yield "  calls less records: " + ", ".join(f"{n} {c}" for n, c in wrong.items() if c)
        return
    for record, call in zip(seen, calls):
        if record.call != call.call or record.flags:
            yield f"rank {rank}: {' '.join(call.call)} was seen as {record}"
        ends = any(word in call.call[0] for word in ENDS)
        first = record.ts if ends else record.ts - record.dur
        if not call.begun <= first <= first + record.dur <= call.ended:
            yield f"rank {rank}: {call.call[0]} at {call.begun}..{call.ended} has {record}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("records")
    parser.add_argument("truth", type=Path)
    parser.add_argument("--from-to", nargs=2, type=int)
    arguments = parser.parse_args()
    seen, bad, compared = records(arguments.records), [], 0
    for pid in sorted(arguments.truth.glob("*.pid")):
        threads = ledger(pid.with_suffix(".memory"))
        tgid = int(pid.read_text())
        more = {tid for process, tid in seen if process == tgid} - threads.keys()
        bad += [f"rank {pid.stem}: records of thread {tid}, which called nothing" for tid in more]
        for tid, calls in threads.items():
            if arguments.from_to:
                first, last = arguments.from_to
                calls = [c for c in calls if first <= c.begun and c.ended <= last]
            own = seen[tgid, tid]
            if tid != tgid and (not own or own.pop().call != ("exit",)):
                bad.append(f"rank {pid.stem}: the end of thread {tid} was not seen")
            bad += compare(f"{pid.stem} thread {tid}", own, calls)
            compared += len(calls)
    print("\n".join(bad[:20]) if bad else f"{compared} calls")
    return bool(bad) or not compared


sys.exit(main())
