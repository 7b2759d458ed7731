#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stacks of a running program as gdb sees them, against those of a report made at the same time.

usage: gdb_stacks.py sample PID COUNT      looks until COUNT times it was inside an MPI call, ten times as
                                           often at most; a line for each of those: frames outside of the
                                           call, the innermost first, as module+offset
       gdb_stacks.py check REPORT.json     reads such lines; every one must be a stack of the report
"""
import json
import re
import subprocess
import sys
import time
from pathlib import Path

FRAME = re.compile(r"^#\d+\s+(?:0x([0-9a-f]+) in )?(\S+)")


def is_fixed(path):
    """ET_EXEC: runs at its link-time addresses."""
    with open(path, "rb") as file:
        return file.read(18)[16] == 2


def mapped(pid):
    """[(start, end, module, address of link-time address 0)...]"""
    rows, bases = [], {}
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) < 6 or not fields[5].startswith("/"):
            continue
        start, end = (int(x, 16) for x in fields[0].split("-"))
        if fields[5] not in bases:
            known = Path(fields[5]).is_file()
            bases[fields[5]] = 0 if known and is_fixed(fields[5]) else start - int(fields[2], 16)
        base = bases[fields[5]]
        rows.append((start, end, Path(fields[5]).name, base))
    return rows


def backtrace(pid):
    out = subprocess.run(["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "set debuginfod enabled off",
                          "-ex", "set backtrace past-main on",
                          "-ex", "bt 70"], capture_output=True, text=True, timeout=60).stdout
    return [(int(m[1] or "0", 16), m[2]) for m in map(FRAME.match, out.splitlines()) if m]


def sample(pid, count):
    rows, found = mapped(pid), 0
    for _ in range(10 * count):
        frames = backtrace(pid)
        calls = [i for i, (_, name) in enumerate(frames) if re.match(r"P?MPI_[A-Z]", name)]
        places = []
        for address, _ in frames[calls[-1] + 1:] if calls else []:
            places += [f"{name}+{address - base:#x}" for start, end, name, base in rows
                       if start <= address < end]
        if places:
            print(*places, flush=True)
            found += 1
        if found == count:
            return
        time.sleep(0.02)


def check(report):
    known = {tuple(f"{Path(f['module'] or '?').name}+{f['offset']}" for f in row["frames"])
             for row in report["stacks"] if row["end"] is None}
    samples = [tuple(line.split()) for line in sys.stdin if line.strip()]
    unknown = {s for s in samples if s not in known}
    print(f"{len(samples)} samples inside MPI calls, {len(set(samples))} different, "
          f"{len(known)} stacks in the report")
    for stack in unknown:
        print("not in the report:", *stack)
    return bool(unknown) or not samples


if sys.argv[1] == "sample":
    sample(int(sys.argv[2]), int(sys.argv[3]))
else:
    sys.exit(check(json.loads(Path(sys.argv[2]).read_text())))
