# SPDX-License-Identifier: BSD-3-Clause
"""How often rows were exact, by measured.txt: bed, row, exact runs, runs, median seconds."""
from pathlib import Path

HEAD = """
## How often rows were exact

"""

TABLE = """
| row | exact | of | median s |
| --- | --- | --- | --- |
"""


def document():
    """Lines that begin with # say where what follows them was measured."""
    out, in_table = [HEAD], False
    for line in (Path(__file__).parent / "measured.txt").read_text().splitlines():
        if line.startswith("#"):
            out.append(("\n" if in_table else "") + line.removeprefix("#").removeprefix(" ") + "\n")
            in_table = False
        elif line.strip():
            name, exact, runs, seconds = line.split()
            out.append(("" if in_table else TABLE) + f"| `{name}` | {exact} | {runs} | {seconds} |\n")
            in_table = True
    return "".join(out)
