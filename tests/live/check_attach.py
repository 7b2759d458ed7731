#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold for a capture that began in mid-run.

usage: check_attach.py REPORT.json [TRACES]

Transport, device and rank are known for every transfer of data; all sends are matched but those
that were under way when one of the TRACES (1) began or ended, which are counted with that reason;
nothing was lost. The job is mpi_pingpong on two ranks: how many can be under way does not depend on
how many there were.
"""
import json
import sys

# How many sends may have which of these reasons, in each trace.
UNDER_WAY = (
    # of each rank what it sends between two rendezvous: for the sum, 8 bytes, 1009 bytes
    (6, ("before first anchor",)),
    # the one in which each rank was
    (2, ("receive operation not seen",)),
    # of each rank one for the sum and one of the next bounce
    (4, ("in flight at end", "arrived, not received", "between captures")),
)


def too_many(unmatched, traces):
    """Yields reasons that more sends have than were under way."""
    for most, reasons in UNDER_WAY:
        count = sum(unmatched.get(reason, 0) for reason in reasons)
        if count > traces * most:
            yield f"{count} sends are unmatched: {', '.join(reasons)}"
    known = {reason for _, reasons in UNDER_WAY for reason in reasons}
    for reason in unmatched.keys() - known:
        yield f"{unmatched[reason]} sends are unmatched: {reason}"


def main():
    report = json.load(open(sys.argv[1]))
    traces = int(sys.argv[2]) if len(sys.argv) > 2 else 1
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
    print("\n".join(wrong[:20]))
    return bool(wrong)


sys.exit(main())
