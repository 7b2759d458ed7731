#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold for a report of an application whose exact numbers nobody knows.

usage: check_app.py REPORT.json start|attach

Joined in mid-run, the sends before the first anchor cannot be matched; they must be counted with that
reason, and some sends must come after it. Of the others, few are under way when the trace ends; how many does
not depend on how many there were.
"""
import json
import sys

UNDER_WAY = 40
CALL_BYTES = 1 << 20  # of one call, at most
OUTSIDE = "operation outside the trace"


def main():
    report, mode = json.load(open(sys.argv[1])), sys.argv[2]
    wrong = []
    matching, attribution, loss = report["matching"], report["attribution"], report["loss"]

    def at_least(what, part, whole, share):
        if not whole or part < share * whole:
            wrong.append(f"{what}: {part} of {whole}")

    early = 0 if mode == "start" else matching["unmatched_sends"].get("before first anchor", 0)
    sends = matching["sends"] - early
    # of operations that began before the trace; a trace from the start has none
    outside = attribution["unexplained_reasons"].get(OUTSIDE, 0) if mode == "attach" else 0
    data = attribution["data_bytes"] - outside
    at_least("data bytes with an op", attribution["to_op"], data, 0.999)
    # each rank may be in a call that began before the trace
    in_calls = CALL_BYTES * len(report["processes"]) if mode == "attach" else 0
    at_least("data bytes with a call", attribution["to_call"] + in_calls, data, 0.999)
    at_least(f"sends after the first anchor (those before: {early}) matched", matching["matched"], sends,
             0.999 if mode == "start" else min(0.99, (sends - UNDER_WAY) / max(sends, 1)))
    counted = matching["matched"] + matching["ambiguous"] + sum(matching["unmatched_sends"].values())
    if counted != matching["sends"]:
        wrong.append(f"sends neither matched nor counted: {matching}")
    if loss["produced"] != loss["stored"] + sum(loss["dropped"].values()):
        wrong.append(f"loss does not add up: {loss}")
    if sum(loss["dropped"].values()):
        wrong.append(f"records dropped: {loss['dropped']}")
    rank = {process["id"]: process["rank"] for process in report["processes"]}
    for row in report["transfers"]:
        known = row["transport"] not in (None, "unknown") and row["device"] not in (None, "unknown")
        if row["kind"] == "data" and not (known and rank.get(row["process"]) is not None):
            wrong.append(f"transfer without transport, device or rank: {row}")
    print("\n".join(wrong[:20]))
    return bool(wrong)


sys.exit(main())
