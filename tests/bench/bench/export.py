# SPDX-License-Identifier: BSD-3-Clause
"""Part "export": ten million records made up (../mkcapture.c), in each format."""
import re
import subprocess
import tempfile
from pathlib import Path

from . import machine
from .replay import RECORDS, measure

# What is not one row per event, or has nothing of these captures.
LEFT_OUT = {"folded"}


def formats():
    text = subprocess.run([machine.UCXBPF, "export", "--help"], check=True, capture_output=True,
                          text=True).stdout
    listed = text.partition("Formats:\n")[2].partition("\n\n")[0]
    return [name for name in re.findall(r"^  (\w+) ", listed, re.M) if name not in LEFT_OUT]


def size_of(path):
    return sum(file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*"))
               if file.is_file())


def main(_):
    rows = []
    with tempfile.TemporaryDirectory(prefix="ucxbpf-bench-") as folder:
        capture = Path(folder) / "bench.ucxb"
        measure(machine.TOOLS / "mkcapture", capture, RECORDS)
        for name in formats():
            out = Path(folder) / name
            wall, memory, cpu = measure(machine.UCXBPF, "export", "-f", name, "-o", out, capture)
            rows.append({"format": name, "s": wall, "cpu s": cpu, "MiB": memory,
                         "out MiB": size_of(out) / 2**20})
            subprocess.run(["rm", "-rf", out], check=True)
    return {"records": RECORDS, "rows": rows}
