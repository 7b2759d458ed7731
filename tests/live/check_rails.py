#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_rails.py FOLDER: report.json's bytes of each NIC against what the nodes' interfaces counted, before and after."""
import json
import sys
from collections import Counter
from pathlib import Path

folder = Path(sys.argv[1])
report = json.loads((folder / "report.json").read_text())
host = {row["id"]: row["name"] for row in report["hosts"]}
of = {row["id"]: host[row["host"]] for row in report["processes"]}

# All that was handed to a NIC, control traffic included; what the launcher says to its daemons is on eth0.
wire = Counter()
for row in report["transfers"]:
    if row["locality"] == "remote":
        wire[of[row["process"]], row["device"]] += row["wire_bytes"]


def counters(name):
    rows = [line.split() for line in (folder / name).read_text().splitlines()]
    return {(node, nic): (int(sent), int(again)) for node, nic, _, sent, again in rows}


before, after = counters("before"), counters("after")
bad = 0
for key, (sent, again) in after.items():
    moved = sent - before[key][0]
    most_again = again - before[key][1]
    fits = wire[key] <= moved <= wire[key] * 1.05 + (256 << 10) + most_again
    bad += not fits
    print(f"{' '.join(key)}: interface sent {moved}, up to {most_again} of it again, "
          f"UCX {wire[key]}{'' if fits else ': does not fit'}")

# The report's own rows are of data; they add up to the messages, and in is out of the others.
data = Counter()
for row in report["nics"]:
    data[row["direction"]] += row["bytes"]
messages = sum(row["bytes"] for row in report["messages"])
routes = sum(row["bytes"] for row in report["routes"])
print(f"messages {messages}, routes {routes}, NICs {dict(data)}")
sys.exit(bad > 0 or not data["out"] == data["in"] == routes == messages)
