#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold for a capture that began in mid-run.

usage: check_attach.py [--ledgers DIR] [--to-end] REPORT.json [TRACES]

Transport, device and rank are known for every transfer of data; all sends are matched but those
that were under way when one of the TRACES (1) began or ended, which are counted with that reason;
nothing was lost. The job is mpi_pingpong on two ranks: how many can be under way does not depend on
how many there were.

--ledgers: calls, and bytes of messages between each pair, are a part of the program's ledgers (RANK.json in DIR):
all but the first ten iterations at most, and each iteration was recorded whole, but for the first and the last one.
--to-end: the job ended while it was traced: every rank's last calls are there, and the last iteration is whole.
"""
import argparse
import json
import sys
from collections import Counter
from pathlib import Path

# How many sends may have which of these reasons, in each trace.
UNDER_WAY = (
    # of each rank what it sends between two rendezvous: for the sum, 8 bytes, 1009 bytes
    (6, ("before first anchor",)),
    # the one in which each rank was
    (2, ("receive operation not seen",)),
    # of each rank one for the sum and one of the next bounce
    (4, ("in flight at end", "arrived, not received", "between captures")),
)

# The program: iterations before it can be attached to, sends and receives of a rank in each, their bytes, and
# the calls after the last one.
RUNNING = 10
BOUNCES = 3
ITERATION_BYTES = 8 + 1009 + 100003
LAST_CALLS = ("MPI_Barrier", "MPI_Finalize")


def too_many(unmatched, traces):
    """Yields reasons that more sends have than were under way."""
    for most, reasons in UNDER_WAY:
        count = sum(unmatched.get(reason, 0) for reason in reasons)
        if count > traces * most:
            yield f"{count} sends are unmatched: {', '.join(reasons)}"
    known = {reason for _, reasons in UNDER_WAY for reason in reasons}
    for reason in unmatched.keys() - known:
        yield f"{unmatched[reason]} sends are unmatched: {reason}"


def recorded(report, rank):
    """(rank, function) to calls, (from, to) to (count, bytes) of MPI_Send's messages."""
    calls, messages = Counter(), {}
    for row in report["calls"]:
        calls[rank[row["process"]], row["function"]] += row["count"]
    for row in report["messages"]:
        if row["function"] == "MPI_Send":
            messages[rank[row["src"]], rank[row["dst"]]] = row["count"], row["bytes"]
    return calls, messages


def compare_calls(calls, rank, ledger, to_end):
    """Yields counts that one rank's calls cannot have. Each iteration begins with an MPI_Allreduce."""
    true = {row["name"]: row["count"] for row in ledger["calls"]}
    for (caller, function), count in sorted(calls.items()):
        if caller == rank and count > true.get(function, 0):
            yield f"rank {rank} made {true.get(function, 0)} calls of {function}, not {count}"
    iterations = calls[rank, "MPI_Allreduce"]
    if not 0 < iterations <= ledger["iterations"] + 1 - RUNNING:
        yield f"rank {rank}: {iterations} iterations of {ledger['iterations']}"
    for function in "MPI_Send", "MPI_Recv":
        count = calls[rank, function]
        # the first MPI_Allreduce may have come before the trace, the last one ends the job
        least = BOUNCES * (iterations - 1)
        most = least + (BOUNCES if to_end else 2 * BOUNCES)
        if not least <= count <= most:
            yield f"rank {rank}: {count} calls of {function} in {iterations} iterations"
    for function in LAST_CALLS:
        if calls[rank, function] != to_end:
            yield f"rank {rank}: {calls[rank, function]} calls of {function}"


def compare_messages(messages, calls):
    """Yields pairs whose messages are not those of whole iterations, give or take the first and the last one."""
    for src, dst in (0, 1), (1, 0):
        count, size = messages.get((src, dst), (0, 0))
        if not calls[src, "MPI_Send"] - BOUNCES * 2 <= count <= calls[src, "MPI_Send"]:
            yield f"{count} messages {src} -> {dst} of {calls[src, 'MPI_Send']} calls"
        whole = count // BOUNCES
        if not (whole - 2) * ITERATION_BYTES <= size <= (whole + 2) * ITERATION_BYTES:
            yield f"{count} messages {src} -> {dst} of {size} bytes"


def compare(report, rank, directory, to_end):
    ledgers = {int(path.stem): json.loads(path.read_text()) for path in Path(directory).glob("[0-9]*.json")}
    if sorted(ledgers) != [0, 1]:
        yield f"ledgers of ranks {sorted(ledgers)}"
    calls, messages = recorded(report, rank)
    for number, ledger in sorted(ledgers.items()):
        yield from compare_calls(calls, number, ledger, to_end)
    yield from compare_messages(messages, calls)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ledgers")
    parser.add_argument("--to-end", action="store_true")
    parser.add_argument("report")
    parser.add_argument("traces", nargs="?", type=int, default=1)
    options = parser.parse_args()
    report, traces = json.load(open(options.report)), options.traces
    wrong = []
    rank = {process["id"]: process["rank"] for process in report["processes"]}
    data = [row for row in report["transfers"] if row["kind"] == "data"]
    for row in report["transfers"]:
        if row["transport"] in (None, "unknown") or row["device"] in (None, "unknown"):
            wrong.append(f"transfer without transport or device: {row}")
        if row["kind"] == "data" and (rank.get(row["process"]) is None or rank.get(row["peer"]) is None):
            wrong.append(f"transfer without rank: {row}")
    matching, loss = report["matching"], report["loss"]
    if not data or not matching["sends"]:
        wrong.append("nothing was seen")
    wrong += too_many(matching["unmatched_sends"], traces)
    explained = matching["matched"] + matching["ambiguous"] + sum(matching["unmatched_sends"].values())
    if explained != matching["sends"]:
        wrong.append(f"sends that are neither matched nor counted: {matching}")
    if sum(loss["dropped"].values()) or loss["produced"] != loss["stored"]:
        wrong.append(f"loss: {loss}")
    if any(process["seen_from"] != "attach" for process in report["processes"]):
        wrong.append("a process claims to be seen from its start")
    if options.ledgers:
        wrong += compare(report, rank, options.ledgers, options.to_end)
    print("\n".join(wrong[:20]))
    return bool(wrong)


sys.exit(main())
