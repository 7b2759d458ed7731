#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
usage: check_perftest.py REPORT.json WITNESS
       check_perftest.py --late SIZE REPORT.json BEFORE BEGUN STOPPED
       check_perftest.py --now FOLDER

Compares a report with what lib_ucp_count.so has counted in each process (WITNESS/PID), and states all that has
no partner or no operation. Prints each difference; status 1 if there is one.

--late: of a pair that was attached to. What its processes had done is in three files: before the attach, when recording
had begun, and at the end. Each operation has SIZE bytes; all messages are matched but those under way at the attach or the
end. Of each process's messages 99 % have transfers of their bytes, but for the first 100 of each link, and of each one's
puts and gets 99 % have their bytes; none has more.
--now: prints such a file of the counters in FOLDER.
"""
import json
import struct
import sys
from collections import Counter
from pathlib import Path

NAMES = ("tag_send", "tag_send_sync", "tag_recv", "stream_send", "am_send", "put", "get", "atomic")
MESSAGES = {"tag_send", "tag_send_sync", "stream_send", "am_send"}
FIRST = 100
# sent before the end and not received by then, or received by an operation from before the attach
UNDER_WAY = {"in flight at end", "arrived, not received", "receive operation not seen"}
MOST_UNDER_WAY = 256  # elements of a FIFO of shared memory, UCX_POSIX_FIFO_SIZE

SENT = ("tag_send", "tag_send_sync", "stream_send", "am_send", "put", "get")


def counted(folder):
    """(pid, operation) -> how many"""
    return Counter({(int(file.name), line.split()[0]): int(line.split()[1])
                    for file in Path(folder).iterdir() for line in file.read_text().splitlines()})


def differences(report, truth):
    pids = {process["id"]: process["pid"] for process in report["processes"]}
    ops, transfers = Counter(), 0
    for row in report["ops"]:
        if row["op"] in {operation for _, operation in truth}:
            ops[pids[row["process"]], row["op"]] += row["count"]
    for pid, operation in sorted(ops.keys() | truth.keys()):
        if ops[pid, operation] != truth[pid, operation]:
            yield (f"process {pid}, {operation}: report says {ops[pid, operation]}, "
                   f"true is {truth[pid, operation]}")
    matching, attribution = report["matching"], report["attribution"]
    for what in ("sends", "receives"):
        if matching["matched"] != matching[what]:
            yield f"{matching[what]} {what}, matched {matching['matched']}: {matching['unmatched_' + what]}"
    sent = sum(row["bytes"] for row in report["ops"] if row["op"] in SENT)
    # over tcp an atomic has its operands and its result as messages
    carried = sum(row["bytes"] for row in report["transfers"]
                  if row["kind"] == "data" and row["ucp_op"] != "atomic")
    if attribution["unexplained"]:
        yield f"{attribution['unexplained']} bytes unexplained: {attribution['unexplained_reasons']}"
    if carried != sent:
        yield f"transfers have {carried} bytes, operations {sent}"
    if not truth:
        yield "nothing was counted"


def now(folder):
    """{pid: {operation: how many}} of counters in memory that is shared"""
    return {file.name: dict(zip(NAMES, struct.unpack("8Q", file.read_bytes()))) for file in Path(folder).iterdir()}


def most_known(what, known, count, links):
    if known < 0.99 * (count - links * FIRST):
        yield f"{what}: {known} of {count}"


def by_direction(size, report, pids, ops):
    """What each process has sent, put and got, by the messages that were matched and the transfers that have an operation"""
    messages, moved = Counter(), Counter()
    for row in report["messages"]:
        messages[pids[row["src"]]] += row["count"]
        if row["bytes"] != row["count"] * size:
            yield f"{row['count']} messages of {size} bytes have {row['bytes']}"
    for row in report["transfers"]:
        # an emulated get is answered by its target
        if row["kind"] == "data" and row["ucp_op"] in ("put", "get"):
            moved[pids[row["peer" if row["initiator"] == "target" else "process"]], row["ucp_op"]] += row["bytes"]
    for pid in pids.values():
        known = {"messages": (messages[pid], sum(ops[pid, operation] for operation in MESSAGES))}
        known |= {operation: (moved[pid, operation] / size, ops[pid, operation]) for operation in ("put", "get")}
        for what, (some, count) in known.items():
            yield from most_known(f"process {pid}, {what}", some, count, 1)
            if some > count:
                yield f"process {pid}: {some} {what} of {count}"


def late_differences(size, report, before, begun, stopped):
    ops, sizes = Counter(), Counter()
    pids = {process["id"]: str(process["pid"]) for process in report["processes"]}
    for row in report["ops"]:
        ops[pids[row["process"]], row["op"]] += row["count"]
        sizes[row["op"]] += row["bytes"]
    for pid in stopped:
        for operation in NAMES:
            least, most = (stopped[pid][operation] - since[pid][operation] for since in (begun, before))
            least -= bool(least)  # the last one may be counted and not begun
            if not least <= ops[pid, operation] <= most:
                yield f"process {pid}, {operation}: report says {ops[pid, operation]}, true is {least} to {most}"
    for operation in SENT:
        count = sum(ops[pid, operation] for pid in stopped)
        if sizes[operation] != count * size:
            yield f"{count} {operation} of {size} bytes have {sizes[operation]}"
    matching, attribution, loss = report["matching"], report["attribution"], report["loss"]
    if sum(loss["dropped"].values()):
        yield f"loss: {loss}"
    if not sum(ops.values()):
        yield "nothing was seen"
    links = len({row["process"] for row in report["ops"] if row["op"] in MESSAGES})
    left = matching["unmatched_sends"]
    if matching["ambiguous"] or left.keys() - UNDER_WAY or sum(left.values()) > MOST_UNDER_WAY:
        yield f"matched {matching['matched']} of {matching['sends']}: {left}, ambiguous {matching['ambiguous']}"
    yield from by_direction(size, report, pids, ops)
    known = attribution["data_bytes"] - attribution["unexplained"]
    yield from most_known(f"bytes with an operation, {attribution['unexplained_reasons']}", known // size,
                          attribution["data_bytes"] // size, 2)
    ways = attribution.get("way_bytes", 0)
    yield from most_known(f"messages with transfers, {attribution.get('without_way_reasons')}",
                          (ways - attribution.get("without_way", 0)) // size, ways // size, links)


def main():
    if sys.argv[1] == "--now":
        print(json.dumps(now(sys.argv[2])))
        return 0
    if sys.argv[1] == "--late":
        found = list(late_differences(int(sys.argv[2]), *(json.loads(Path(path).read_text()) for path in sys.argv[3:])))
    else:
        found = list(differences(json.loads(Path(sys.argv[1]).read_text()), counted(sys.argv[2])))
    print("\n".join(found[:20]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
