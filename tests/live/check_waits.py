#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the waits of a report with the clocks of mpi_waits (tests/progs): kind, function, ranks, call sites, time.

usage: check_waits.py [--in-part] REPORT.json LEDGERS CASE

--in-part: what is missing must be unknown in the report, for messages of its collectives that are not known.

Prints one line per difference and exits with 1 if there was any.
"""
import json
import sys
from pathlib import Path

# rounds, kind, function, ranks that wait, rank that they wait for, rank that caused it; LAST: the largest rank.
LAST = -1
BOTH = (0, 1)
CASES = {
    "late_sender": [(BOTH, "late_sender", "MPI_Recv", [0], 1, 1)],
    "late_sender_beside": [(BOTH, "late_sender", "MPI_Recv", [0], 1, 1)],
    "late_sender_wait": [(BOTH, "late_sender", "MPI_Wait", [0], 1, 1)],
    "late_receiver": [(BOTH, "late_receiver", "MPI_Send", [0], 1, 1)],
    "late_progress": [(BOTH, "late_progress", "MPI_Send", [0], 1, 1)],
    "barrier": [(BOTH, "wait_at_barrier", "MPI_Barrier", None, LAST, LAST)],
    "allreduce": [(BOTH, "wait_at_nxn", "MPI_Allreduce", None, LAST, LAST)],
    "late_broadcast": [(BOTH, "late_broadcast", "MPI_Bcast", None, 0, 0)],
    "early_reduce": [(BOTH, "early_reduce", "MPI_Reduce", [0], LAST, LAST)],
    "resources": [(BOTH, "out_of_resources", "MPI_Send", [0], 1, 1)],
    "resources_before": [(BOTH, "out_of_resources", "MPI_Send", [0], 1, 1)],
    "chain": [(BOTH, "late_sender", "MPI_Recv", [0], 1, LAST)],
}
CASES["mixed"] = [((0,), *CASES["late_sender"][0][1:]), ((1,), *CASES["late_progress"][0][1:])]
WITHOUT = ("none", "balanced")
SHARE = 0.05 # of the program's own times
INCOMPLETE = "collectives whose messages are not all known"
MOST = 0.02 # of a run's time, where there are no waits


def main():
    words = [word for word in sys.argv[1:] if word != "--in-part"]
    report = json.loads(Path(words[0]).read_text())
    ledgers = {int(p.stem): json.loads(p.read_text()) for p in Path(words[1]).glob("*.json")}
    case, bad = words[2], []
    in_part = "--in-part" in sys.argv and report["waits_unknown"].get(INCOMPLETE, 0) > 0
    last = max(ledgers)
    if case in WITHOUT:
        span = sum(row["span_ns"] for row in report["time"])
        waited = sum(row["wait_ns"] for row in report["time"])
        if waited > MOST * span:
            bad.append(f"{waited} of {span} ns waited")
    for rounds, kind, function, ranks, culprit, root in [] if case in WITHOUT else CASES[case]:
        culprit, root = (last if r == LAST else r for r in (culprit, root))
        for rank in ranks if ranks else [r for r in ledgers if r != culprit]:
            mine, other = ledgers[rank], ledgers[culprit]
            site, culprit_site = (f"mpi_waits.c:{of['lines'][rounds[0]]}" for of in (mine, other))
            rows = [row for row in report["waits"]
                    if row["kind"] == kind and row["function"] == function and row["rank"] == rank
                    and row["call_site"] == site]
            told = sum(row["sum_ns"] for row in rows)
            least = sum(other["before"][i] - mine["before"][i] for i in rounds)
            most = sum(other["after"][i] - mine["before"][i] for i in rounds)
            if case == "resources":
                # other sends wait a little, too: the longest wait is that of the call in the ledger
                told = max((row["max_ns"] for row in rows), default=0)
                least = min(other["before"][i] - mine["before"][i] for i in rounds)
                most = max(mine["after"][i] - mine["before"][i] for i in rounds)
            elif case == "resources_before":
                most = sum(mine["after"][i] - mine["before"][i] for i in rounds)
            if in_part:
                least = 0
                if not rows:
                    continue
            if not (1 - SHARE) * least <= told <= most:
                bad.append(f"rank {rank} waits {told} ns in {kind} of {function} at {site}, true is {least} to {most}")
            worst = max(rows, key=lambda row: row["sum_ns"], default={})
            for key, true in (("culprit_rank", culprit), ("culprit_call_site", culprit_site), ("root_rank", root)):
                if case == "resources" and key == "culprit_call_site" and not worst.get(key, true):
                    continue  # over sockets
                if worst.get(key) != true:
                    bad.append(f"rank {rank}: {key} is {worst.get(key)}, true is {true}")
            # behind what it takes out first, a message waits for longer than the culprit computed
            if case not in ("chain", "resources", "resources_before") and worst and 2 * worst["computing_ns"] < worst["sum_ns"]:
                bad.append(f"rank {rank}: the culprit computed for {worst['computing_ns']} of {worst['sum_ns']} ns")
            others = sum(row["sum_ns"] for row in report["waits"]
                         if row["kind"] != kind and row["rank"] == rank and row["call_site"] == site)
            if function in ("MPI_Recv", "MPI_Send", "MPI_Wait") and others > SHARE * told:
                bad.append(f"rank {rank} waits {others} ns at {site} for something else, too")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
