#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold for a report of an application whose exact numbers nobody knows.

usage: check_app.py REPORT.json start|attach

Joined in mid-run, the sends before the first anchor cannot be matched; they must be counted with that
reason, and some sends must come after it.
"""
import json
import sys


def main():
    report, mode = json.load(open(sys.argv[1])), sys.argv[2]
    wrong = []
    matching, attribution, loss = report["matching"], report["attribution"], report["loss"]

    def at_least(what, part, whole, share):
        if not whole or part < share * whole:
            wrong.append(f"{what}: {part} of {whole}")

    share, early = 0.999, 0
    if mode == "attach":
        share, early = 0.99, matching["unmatched_sends"].get("before first anchor", 0)
    at_least("data bytes with an op", attribution["to_op"], attribution["data_bytes"], 0.999)
    at_least("data bytes with a call", attribution["to_call"], attribution["data_bytes"], 0.999)
    at_least(f"sends after the first anchor (those before: {early}) matched", matching["matched"],
             matching["sends"] - early, share)
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
