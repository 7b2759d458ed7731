#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Compares what a tracer with a budget recorded in its windows with another tracer that recorded everything on the
same run.

usage: check_twin.py ALL.ndjson WINDOWS.ndjson

Both are of `ucxbpf export -f ndjson`. Of each thread, what one window has is a piece of what there is in ALL at that
time: the same calls, operations and transfers, of the layers of the window's step, with the same bytes where it knows
them, and none left out between; calls in the same order. What is half-way at an edge may be missing.
Prints a line per difference, else how much was compared; exits with 1 if there was any.
"""
import bisect
import json
import sys
from collections import Counter, defaultdict

LAYERS = {"uct": ("call", "op", "transfer"), "windows": ("call", "op", "transfer"), "ucp": ("call", "op"),
          "mpi": ("call",)}
KEYS = {"call": ("function",), "op": ("op", "bytes", "tag"), "transfer": ("op", "transport", "bytes", "wire_bytes", "retried")}
# a loop of these is one record, which is no event but for its last call
POLLS = {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe", "MPI_Win_test",
         "MPI_Request_get_status", "MPI_Parrived"}
EDGE = 4  # events of a thread that may be under way where a window begins or ends


def load(path):
    """Windows, and for each (thread, layer) the events in the order of their start: (start, key)."""
    windows, events, threads = [], defaultdict(list), {}
    with open(path) as lines:
        for line in lines:
            event = json.loads(line)
            kind = event["event"]
            if kind == "process":
                threads[event["id"]] = event["tgid"]
            elif kind == "window":
                windows.append(event)
            elif kind in KEYS and event.get("function") not in (POLLS if kind == "call" else ()):
                key = tuple(event[name] for name in KEYS[kind])
                events[threads[event["process"]], event["tid"], kind].append((event["start"], key))
    for some in events.values():
        some.sort(key=lambda event: event[0])
    return windows, events


def between(events, window):
    return (bisect.bisect_left(events, window["from"], key=lambda event: event[0]),
            bisect.bisect_right(events, window["to"], key=lambda event: event[0]))


def is_piece(piece, of, near):
    """Whether the keys of piece are somewhere in a row among those of `of`, about the index near."""
    keys = [key for _, key in piece]
    for first in range(max(near - 3 * EDGE, 0), near + 3 * EDGE + 1):
        if [key for _, key in of[first:first + len(keys)]] == keys:
            return True
    return False


def compare(window, thread, whole, some):
    begin, end = between(whole, window)
    first, last = between(some, window)
    piece = some[first:last]
    if abs(end - begin - len(piece)) > EDGE:
        yield f"{window['step']} window at {window['from']}: {thread}: {len(piece)} of {end - begin}"
    # fragments that are one record share its time, operations may begin in others: their order is not told
    if thread[2] != "call":
        known = Counter(key for _, key in piece if None not in key)
        extra = known - Counter(key for _, key in whole[begin:end])
        if sum(extra.values()) > EDGE:
            yield f"{window['step']} window at {window['from']}: {thread}: not in all: {extra}"
        return
    # the first and the last ones may be half-way
    piece = piece[EDGE:-EDGE]
    if piece and not is_piece(piece, whole, bisect.bisect_left(whole, piece[0][0], key=lambda event: event[0])):
        yield f"{window['step']} window at {window['from']}: {thread}: its {len(piece)} are not in a row in all"


def main():
    _, whole = load(sys.argv[1])
    windows, some = load(sys.argv[2])
    wrong, compared = [], 0
    for window in windows:
        for thread in set(whole) | set(some):
            if thread[2] not in LAYERS[window["step"]]:
                continue
            wrong += compare(window, thread, whole[thread], some[thread])
            begin, end = between(some[thread], window)
            compared += end - begin
    strays = sum(len(events) for events in some.values()) - compared
    if windows and strays:
        wrong.append(f"{strays} events in no window that has their layer")
    if not windows:
        wrong.append("no windows: nothing was compared")
    print("\n".join(wrong[:20]) or f"{compared} events in {len(windows)} windows")
    return bool(wrong)


sys.exit(main())
