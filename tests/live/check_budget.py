#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold for a capture with a budget.

usage: check_budget.py REPORT.json [STEP...]

Each of these steps was recorded in some window; windows do not overlap, and say what they had and why. Every send
and receive is matched or counted with a reason, and nothing was lost.
"""
import json
import sys

STEPS = {"uct", "ucp", "mpi", "windows"}
REASONS = {"start", "over budget", "under budget", "records lost", "forced", "not placed"}


def check_windows(report, steps):
    windows = report.get("windows", [])
    for before, after in zip(windows, windows[1:]):
        if after["from_ns"] <= before["to_ns"]:
            yield f"windows overlap: {before} {after}"
    for window in windows:
        if window["step"] not in STEPS or window["reason"] not in REASONS:
            yield f"a window of no known step or reason: {window}"
    seen = {window["step"] for window in windows}
    if not set(steps) <= seen:
        yield f"of {steps} only {seen} were recorded"


def check_sums(report):
    matching, loss = report["matching"], report["loss"]
    for side in "sends", "receives":
        unmatched = matching[f"unmatched_{side}"]
        if matching["matched"] + matching["ambiguous"] + sum(unmatched.values()) != matching[side]:
            yield f"{side} that are neither matched nor counted: {matching}"
    if sum(loss["dropped"].values()) or loss["produced"] != loss["stored"]:
        yield f"loss: {loss}"
    if sys.argv[2:] and not sum(call["count"] for call in report["calls"]):
        yield "no call was recorded"


def main():
    report = json.load(open(sys.argv[1]))
    wrong = list(check_windows(report, sys.argv[2:])) + list(check_sums(report))
    print("\n".join(wrong))
    return bool(wrong)


sys.exit(main())
