#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold for a capture that began in mid-run.

usage: check_attach.py REPORT.json [SHARE]

Transport, device and rank are known for every transfer of data; SHARE (0.99) of the sends are
matched, and all others counted with a reason; nothing was lost.
"""
import json
import sys


def main():
    report = json.load(open(sys.argv[1]))
    share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.99
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
    if matching["matched"] < share * matching["sends"]:
        wrong.append(f"too few matched: {matching}")
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
