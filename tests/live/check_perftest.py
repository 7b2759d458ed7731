#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
usage: check_perftest.py REPORT.json WITNESS

Compares a report with what lib_ucp_count.so has counted in each process (WITNESS/PID), and states all that has
no partner or no operation. Prints each difference; status 1 if there is one.
"""
import json
import sys
from collections import Counter
from pathlib import Path

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


def main():
    report = json.loads(Path(sys.argv[1]).read_text())
    found = list(differences(report, counted(sys.argv[2])))
    print("\n".join(found[:20]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
