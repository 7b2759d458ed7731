# SPDX-License-Identifier: BSD-3-Clause
"""
Part "producers": how replay grows with the number of ranks that made records (../mkcapture.c), with as many
records in all, with as many of each rank, and with none to speak of: what the ranks' objects alone take, which
grow with their square, since each rank has endpoints to all. And with as many records in all, and beside them so
many of 100 batches lost.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

from . import machine
from .replay import measure

RANKS = [24, 48, 96, 192]
IN_ALL, OF_EACH = 10_000_000, 100_000
LOST, OF_LOST = [10, 60], 2_000_000


def row(folder, ranks, records, lost=0):
    capture = Path(folder) / "bench.ucxb"
    subprocess.run([machine.TOOLS / "mkcapture", capture, str(records), str(ranks), str(lost)], check=True)
    report = subprocess.run([machine.TOOLS / "readcapture", capture], check=True, capture_output=True, text=True)
    read = min(measure(machine.TOOLS / "readcapture", capture)[2] for _ in range(2))
    wall, memory, cpu = min((measure(machine.UCXBPF, "replay", capture) for _ in range(2)), key=lambda one: one[2])
    print(f"  producers: {ranks} ranks, {records:,} records, {lost} % lost: {cpu:.1f} s", file=sys.stderr, flush=True)
    return {"ranks": ranks, "records": int(report.stdout.split()[1]), "read cpu s": read, "s": wall, "cpu s": cpu,
            "MiB": memory, "file MiB": capture.stat().st_size / 2**20}


def main(_):
    with tempfile.TemporaryDirectory(prefix="ucxbpf-bench-") as folder:
        return {"rows": [{"objects": row(folder, ranks, 1), "in all": row(folder, ranks, IN_ALL),
                          "of each": row(folder, ranks, OF_EACH * ranks),
                          "lost": {lost: row(folder, ranks, OF_LOST, lost) for lost in [0, *LOST]}} for ranks in RANKS]}
