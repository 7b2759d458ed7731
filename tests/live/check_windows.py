#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Checks the report of a capture with windows, of a duty cycle or of a budget.

usage: check_windows.py [--count N] [--length MS] [--steps STEP,...] REPORT.json

Windows do not overlap. Every send and receive is matched or counted with a reason, and nothing was lost.
--count: there are at least so many.
--length: none is shorter, except perhaps the last one, and one of them is little longer, as the tracer may be late but
not each time; what is not matched stood at the edge of a window, a few at each.
--steps: they are of a budget, each with a known step and reason, and each of these steps is there.
"""
import argparse
import json
import sys

STEPS = {"uct", "ucp", "mpi", "windows"}
REASONS = {"start", "over budget", "under budget", "records lost", "forced", "not placed"}
AT_EDGES = {"before first anchor", "window edge", "in flight at end", "arrived, not received",
            "receive operation not seen", "send operation not seen", "send not seen",
            "arrival not seen", "sender not known"}
PER_WINDOW = 12  # operations that may be half-way at both edges, over both ranks
LATE_NS = 100_000_000


def check_order(windows):
    for before, after in zip(windows, windows[1:]):
        if after["from_ns"] <= before["to_ns"]:
            yield f"windows overlap: {before} {after}"


def check_lengths(windows, length_ns):
    lengths = [window["to_ns"] - window["from_ns"] for window in windows]
    for length in lengths[:-1]:
        if length < length_ns:
            yield f"a window of {length} ns"
    if min(lengths) > length_ns + LATE_NS:
        yield f"windows of {lengths} ns"


def check_steps(windows, steps):
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


def check_edges(report):
    matching = report["matching"]
    for side in "sends", "receives":
        unmatched = matching[f"unmatched_{side}"]
        if set(unmatched) - AT_EDGES:
            yield f"{side} unmatched for no reason of an edge: {unmatched}"
        if sum(unmatched.values()) > PER_WINDOW * len(report["windows"]):
            yield f"too many {side} unmatched: {unmatched}"
    if not matching["matched"]:
        yield f"none matched: {matching}"


def check(report, options):
    windows = report.get("windows", [])
    if len(windows) < options.count:
        yield f"{len(windows)} windows instead of {options.count}"
    yield from check_order(windows)
    yield from check_sums(report)
    if options.length:
        yield from check_lengths(windows, options.length * 1_000_000)
        yield from check_edges(report)
    if options.steps is not None:
        yield from check_steps(windows, [step for step in options.steps.split(",") if step])
    if options.steps and not sum(call["count"] for call in report["calls"]):
        yield "no call was recorded"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--length", type=int, default=0)
    parser.add_argument("--steps")
    parser.add_argument("report")
    options = parser.parse_args()
    wrong = list(check(json.load(open(options.report)), options))
    print("\n".join(wrong))
    return bool(wrong)


sys.exit(main())
