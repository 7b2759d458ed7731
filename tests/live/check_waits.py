#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the waits of a report with the clocks of mpi_waits (tests/progs): kind, function, ranks, call sites, time.

usage: check_waits.py REPORT.json LEDGERS CASE

Prints one line per difference and exits with 1 if there was any.
"""
import json
import sys
from pathlib import Path

# kind, function, ranks that wait, rank that they wait for, rank that caused it; LAST: the largest rank.
LAST = -1
CASES = {
    "late_sender": ("late_sender", "MPI_Recv", [0], 1, 1),
    "late_sender_wait": ("late_sender", "MPI_Wait", [0], 1, 1),
    "late_receiver": ("late_receiver", "MPI_Send", [0], 1, 1),
    "late_progress": ("late_progress", "MPI_Send", [0], 1, 1),
    "barrier": ("wait_at_barrier", "MPI_Barrier", None, LAST, LAST),
    "allreduce": ("wait_at_nxn", "MPI_Allreduce", None, LAST, LAST),
    "late_broadcast": ("late_broadcast", "MPI_Bcast", None, 0, 0),
    "early_reduce": ("early_reduce", "MPI_Reduce", [0], LAST, LAST),
    "chain": ("late_sender", "MPI_Recv", [0], 1, LAST),
}
SHARE = 0.05 # of the program's own times
MOST = 0.02 # of a run's time, where there are no waits


def main():
    report = json.loads(Path(sys.argv[1]).read_text())
    ledgers = {int(p.stem): json.loads(p.read_text()) for p in Path(sys.argv[2]).glob("*.json")}
    case, bad = sys.argv[3], []
    last = max(ledgers)
    if case == "none":
        span = sum(row["span_ns"] for row in report["time"])
        waited = sum(row["wait_ns"] for row in report["time"])
        if waited > MOST * span:
            bad.append(f"{waited} of {span} ns waited")
    else:
        kind, function, ranks, culprit, root = CASES[case]
        culprit, root = (last if r == LAST else r for r in (culprit, root))
        for rank in ranks if ranks else [r for r in ledgers if r != culprit]:
            mine, other = ledgers[rank], ledgers[culprit]
            site, culprit_site = (f"mpi_waits.c:{of['line']}" for of in (mine, other))
            rows = [row for row in report["waits"]
                    if row["kind"] == kind and row["function"] == function and row["rank"] == rank
                    and row["call_site"] == site]
            told = sum(row["sum_ns"] for row in rows)
            least = sum(b - a for a, b in zip(mine["before"], other["before"]))
            most = sum(b - a for a, b in zip(mine["before"], other["after"]))
            if not (1 - SHARE) * least <= told <= most:
                bad.append(f"rank {rank} waits {told} ns in {kind} of {function} at {site}, true is {least} to {most}")
            worst = max(rows, key=lambda row: row["sum_ns"], default={})
            for key, true in (("culprit_rank", culprit), ("culprit_call_site", culprit_site), ("root_rank", root)):
                if worst.get(key) != true:
                    bad.append(f"rank {rank}: {key} is {worst.get(key)}, true is {true}")
            if case != "chain" and worst and 2 * worst["computing_ns"] < worst["sum_ns"]:
                bad.append(f"rank {rank}: the culprit computed for {worst['computing_ns']} of {worst['sum_ns']} ns")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
