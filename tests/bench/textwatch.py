#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Watches how many probed instructions are in the text of running processes, as they come and go.

usage: textwatch.py PID[,PID...] SECONDS

What differs from the files at some time in the first 4 seconds are the sites. Prints a line "TIME COUNT" (CLOCK_MONOTONIC,
ns) whenever the count changes; looks about every 0.5 ms.
"""
import os
import sys
import time

PAGE = 4096
LEARN = 4
TRACED = ("libuc", "libmpi", "mca_pml_ucx")


memories = {}


def changed(pid):
    memory = memories.get(pid)
    if memory is None:
        memory = memories[pid] = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    for line in open(f"/proc/{pid}/maps"):
        field = line.split(maxsplit=5)
        if "x" not in field[1] or len(field) < 6 or not any(name in field[5] for name in TRACED):
            continue
        start, end = (int(part, 16) for part in field[0].split("-"))
        with open(f"/proc/{pid}/map_files/{field[0]}", "rb") as file:
            file.seek(int(field[2], 16))
            original = file.read(end - start)
        text = os.pread(memory, len(original), start)
        for page in range(0, len(original), PAGE):
            old, new = original[page : page + PAGE], text[page : page + PAGE]
            if old != new:
                yield from ((memory, start + page + i, old[i : i + 1])
                            for i in range(len(old)) if old[i] != new[i])


begin, last, sites = time.monotonic(), None, {}
while time.monotonic() < begin + LEARN:
    for number, pid in enumerate(sys.argv[1].split(",")):
        for memory, address, byte in changed(int(pid)):
            sites.setdefault((number, address), (memory, address, byte))
sites, end = list(sites.values()), begin + float(sys.argv[2])
while time.monotonic() < end:
    try:
        count = sum(os.pread(memory, 1, address) != byte for memory, address, byte in sites)
    except OSError:
        break
    if count != last:
        print(time.clock_gettime_ns(time.CLOCK_MONOTONIC), count, flush=True)
    last = count
    time.sleep(0.0005)
