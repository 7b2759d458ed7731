#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what in the executable pages of processes is not as in the files they were mapped from.

usage: check_text.py [--count] PID...

One line per mapping that differs: pid, file name, digest of its pages. UCX itself patches libc's
memory functions, so some lines are normal: what matters is that tracing changes none of them. --count: how many bytes differ in each instead of
the digest.
"""
import hashlib
import os
import sys


def mapped(pid, addresses, path):
    """The file of a mapping; by its name in a user namespace, where the kernel denies the other way."""
    try:
        return open(f"/proc/{pid}/map_files/{addresses}", "rb")
    except PermissionError:
        return open(f"/proc/{pid}/root{path}", "rb")


def differing(pid):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            field = line.split(maxsplit=5)
            if "x" not in field[1] or len(field) < 6 or not field[5].startswith("/"):
                continue
            start, end = (int(part, 16) for part in field[0].split("-"))
            with mapped(pid, field[0], field[5].strip()) as file:
                file.seek(int(field[2], 16))
                original = file.read(end - start)
            memory.seek(start)
            pages = memory.read(len(original))
            if pages != original:
                yield os.path.basename(field[5].strip()), pages, original


def digest(pages, _):
    return hashlib.sha256(pages).hexdigest()[:16]


def count(pages, original):
    return sum(a != b for a, b in zip(pages, original))


counts = sys.argv[1] == "--count"
for pid in sys.argv[1 + counts :]:
    for name, pages, original in differing(pid):
        print(pid, name, (count if counts else digest)(pages, original))
