#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_serials.py [--least PERCENT] TRUTH CAPTURE...: every match that ucxbpf claims, against mpi_serial's ledger.

A claimed match names a send and a receive by when they began. The ledger says which call on which
rank was going on then, and which serial number it sent or received. Prints what was compared, and of
the messages whose both operations are recorded how many are matched; exit status 1 if a match is wrong.
--least: or if fewer than that are matched of the first hundred messages of each link behind each event (an attach, the
begin of a window, a loss), or of all. UCXBPF names the program.
"""
import bisect
import glob
import json
import os
import re
import struct
import subprocess
import sys

ENTRY = struct.Struct("=QQQQii")


class Ledger:
    """The calls of one rank, in the order in which they began."""

    def __init__(self, path):
        with open(path, "rb") as file:
            rows = [ENTRY.unpack(row) for row in iter(lambda: file.read(ENTRY.size), b"")]
        self.all = rows
        self.rows = {kind: [r for r in rows if r[5] == kind] for kind in (0, 1)}
        self.starts = {kind: [r[1] for r in self.rows[kind]] for kind in (0, 1)}
        self.received = {r[0]: r for r in self.rows[1]}

    def at(self, kind, time):
        """What this rank was sending or posting at that time; None: nothing of the ledger."""
        place = bisect.bisect_right(self.starts[kind], time) - 1
        if place < 0:
            return None
        row = self.rows[kind][place]
        return row if row[1] <= time <= row[2] else None


def wrong_match(message, ranks, ledgers):
    """Why a claimed match is wrong; None: it is right; False: it is none of the ledger's."""
    source, target = ranks.get(message["src"]), ranks.get(message["dst"])
    if source is None or target is None or not message["send_start"]:
        return False
    sent = ledgers[source].at(0, message["send_start"])
    if not sent:
        if message["recv_start"] and ledgers[target].at(1, message["recv_start"]):
            return "a receive of the ledger got what no send of it sent"
        return False
    if sent[4] != target:
        return f"sent to rank {sent[4]}, not {target}"
    taken = ledgers[target].received.get(sent[0])
    if not taken:
        return "a serial that nobody received"
    if not sent[1] <= message["arrival"] <= taken[3]:
        return "arrived before its send, or after it was received"
    if not message["recv_start"]:
        return None
    posted = ledgers[target].at(1, message["recv_start"])
    if not posted:
        return "the receive is none of the ledger"
    if posted[0] != sent[0]:
        return f"sent {sent[0]:#x}, received {posted[0]:#x}"
    return None


def serial_at(ledgers, rank, kind, time):
    """What that rank sent or received in the call at that time; None: nothing of the ledger."""
    row = ledgers[rank].at(kind, time) if rank in ledgers else None
    return row and row[0]


FIRST = 100


def covered(ledger, recorded):
    """A list of (begin, end) of one rank: its calls from one that is recorded to the last one before another is not."""
    spans, going = [], False
    for row in ledger.all:
        if row[0] in recorded[row[5]]:
            if not going:
                spans.append([row[1], row[1]])
            spans[-1][1] = row[1]
        going = row[0] in recorded[row[5]]
    return spans


def span_at(spans, begin, end):
    """The number of the span that has both times; None: there is none."""
    place = bisect.bisect_right(spans, [begin, 1 << 64]) - 1
    return place if place >= 0 and end <= spans[place][1] else None


def stretches_of(ledgers, recorded, windows):
    """Lists of serials, by link and by time in which no call of its two ranks is missing, from the posting of a receive to
    its message's end."""
    spans = {rank: covered(ledger, recorded) for rank, ledger in ledgers.items()}
    windows = sorted(windows)
    for source, ledger in ledgers.items():
        links = {}
        for serial, begin, _, _, peer, _ in ledger.rows[0]:
            taken = ledgers[peer].received.get(serial)
            if not taken:
                continue
            place = (span_at(spans[source], begin, begin), span_at(spans[peer], taken[1], taken[3]),
                     span_at(windows, min(begin, taken[1]), taken[3]) if windows else 0)
            if None not in place:
                links.setdefault((peer, place), []).append(serial)
        yield from links.values()


def main():
    arguments = sys.argv[1:]
    least = 0
    if arguments[0] == "--least":
        least, arguments = float(arguments[1]), arguments[2:]
    truth, captures = arguments[0], arguments[1:]
    ledgers = {int(re.search(r"(\d+)\.serials$", path).group(1)): Ledger(path)
               for path in glob.glob(truth + "/*.serials")}
    command = [os.environ.get("UCXBPF", "ucxbpf"), "export", "-f", "ndjson"] + captures
    counts = {"right": 0, "no receive": 0, "wrong": 0, "other": 0}
    ranks = {}
    recorded = {0: set(), 1: set()}
    windows = []
    matched = set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as export:
        for line in export.stdout:
            if line.startswith('{"event":"process"'):
                process = json.loads(line)
                if process["rank"] is not None:
                    ranks[process["id"]] = process["rank"]
            if line.startswith('{"event":"window"'):
                window = json.loads(line)
                windows.append([window["from"], window["to"]])
            if line.startswith('{"event":"op",'):
                op = json.loads(line)
                kind = 0 if op["sends"] else 1
                recorded[kind].add(serial_at(ledgers, ranks.get(op["process"]), kind, op["start"]))
            if not line.startswith('{"event":"message"'):
                continue
            message = json.loads(line)
            matched.add(serial_at(ledgers, ranks.get(message["src"]), 0, message["send_start"]))
            why = wrong_match(message, ranks, ledgers)
            if why is None:
                counts["right"] += 1
                counts["no receive"] += not message["recv_start"]
            elif why is False:
                counts["other"] += 1
            else:
                counts["wrong"] += 1
                if counts["wrong"] <= 5:
                    print(why, line.strip())
    print("right {right}, {no receive} of them without a receive, wrong {wrong}, "
          "others {other}".format(**counts))
    whole = (recorded[0] & recorded[1]) - {None}
    print("both operations recorded", len(whole), "matched", len(whole & matched))
    stretches = list(stretches_of(ledgers, recorded, windows))
    missed = not stretches
    for what, some in (f"first {FIRST} of each", (stretch[:FIRST] for stretch in stretches)), ("all", stretches):
        serials = [serial for stretch in some for serial in stretch]
        found = sum(serial in matched for serial in serials)
        print(f"{len(stretches)} beginnings, {what}: {len(serials)} messages, matched {found}")
        missed |= found * 100 < least * len(serials)
    sys.exit(bool(counts["wrong"] or not counts["right"] or least and missed))


if __name__ == "__main__":
    main()
