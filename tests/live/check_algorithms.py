#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the algorithms of a report with those that a library was told to use.

usage: check_algorithms.py REPORT.json RANKS FUNCTION=ALGORITHM[?]...

Each operation of FUNCTION was made by ALGORITHM, "_" for spaces: "?" behind it, the pattern may be unknown at so many
ranks, but no other one. "?" alone: it has no pattern that is known. Prints one line per difference and exits with 1 if
there was any.
"""
import json
import sys
from pathlib import Path


def main():
    rows, ranks, bad = json.loads(Path(sys.argv[1]).read_text())["collectives"], int(sys.argv[2]), []
    for word in sys.argv[3:]:
        function, wanted = word.split("=")
        name = wanted.rstrip("?").replace("_", " ") or None
        allowed = {name} | ({None} if wanted.endswith("?") else set())
        own = [row for row in rows if row["function"] == function and row["ranks"] == ranks]
        found = {row["algorithm"] for row in own}
        if not own or not found <= allowed:
            bad.append(f"{function} of {ranks}: {found or 'none'}, true is {wanted} {[row['reason'] for row in own]}")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
