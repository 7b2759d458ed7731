#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the executable pages of processes with the files that they were mapped from.

usage: check_text.py PID...
"""
import os
import sys


def differing(pid):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            field = line.split(maxsplit=5)
            if "x" not in field[1] or len(field) < 6 or not field[5].startswith("/"):
                continue
            start, end = (int(part, 16) for part in field[0].split("-"))
            with open(f"/proc/{pid}/map_files/{field[0]}", "rb") as file:
                file.seek(int(field[2], 16))
                original = file.read(end - start)
            memory.seek(start)
            if memory.read(len(original)) != original:
                yield os.path.basename(field[5].strip())


wrong = [f"{pid}: {name} differs" for pid in sys.argv[1:] for name in differing(pid)]
print("\n".join(wrong))
sys.exit(bool(wrong))
