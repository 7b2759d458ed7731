#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold for a capture with windows.

usage: check_window.py REPORT.json COUNT MILLISECONDS

There are at least COUNT windows, none shorter than that but perhaps the last one, and one of them little longer:
the tracer may come late, but not each time. The sends that are not matched stood at the edge of a window, a few at
each; nothing was lost.
"""
import json
import sys

AT_EDGES = {"before first anchor", "window edge", "in flight at end", "arrived, not received",
            "receive operation not seen", "send operation not seen", "send not seen",
            "arrival not seen", "sender not known"}
PER_WINDOW = 12  # operations that may be half-way at both edges, over both ranks


def check_windows(report, count, length_ns):
    windows = report["windows"]
    if len(windows) < count:
        yield f"{len(windows)} windows instead of {count}"
    for before, after in zip(windows, windows[1:]):
        if after["from_ns"] <= before["to_ns"]:
            yield f"windows overlap: {before} {after}"
    for window in windows[:-1]:
        length = window["to_ns"] - window["from_ns"]
        if length < length_ns:
            yield f"a window of {length} ns"
    lengths = [window["to_ns"] - window["from_ns"] for window in windows]
    if min(lengths) > length_ns + 100_000_000:
        yield f"windows of {lengths} ns"


def check_sums(report):
    matching, loss = report["matching"], report["loss"]
    for side in "sends", "receives":
        unmatched = matching[f"unmatched_{side}"]
        if matching["matched"] + matching["ambiguous"] + sum(unmatched.values()) != matching[side]:
            yield f"{side} that are neither matched nor counted: {matching}"
        if set(unmatched) - AT_EDGES:
            yield f"{side} unmatched for no reason of an edge: {unmatched}"
        if sum(unmatched.values()) > PER_WINDOW * len(report["windows"]):
            yield f"too many {side} unmatched: {unmatched}"
    if not matching["matched"]:
        yield f"none matched: {matching}"
    if sum(loss["dropped"].values()) or loss["produced"] != loss["stored"]:
        yield f"loss: {loss}"


def main():
    report = json.load(open(sys.argv[1]))
    wrong = list(check_windows(report, int(sys.argv[2]), int(sys.argv[3]) * 1_000_000))
    wrong += check_sums(report)
    print("\n".join(wrong))
    return bool(wrong)


sys.exit(main())
