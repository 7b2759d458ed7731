# SPDX-License-Identifier: BSD-3-Clause
"""
Part "rate": how many records a second are stored. Processes, one per core, call a function that does
nothing (../job/flood.c) at a highest rate or flat out; real programs make real records of it.
"""
import os
import subprocess
import time

from . import machine
from .tracers import Ucxbpf, cpu_seconds

SECONDS = 3
TARGET = 1_600_000


def measure(producers, rate):
    cpus = sorted(os.sched_getaffinity(0))[:producers]
    flood = subprocess.Popen(
        [machine.TOOLS / "job/flood", machine.TOOLS / "job/libflood.so", str(SECONDS), str(rate),
         *map(str, cpus)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pids = [int(flood.stdout.readline().split()[1]) for _ in cpus]
    tracer = Ucxbpf("--level", "uct")
    tracer.start(pids)
    before = cpu_seconds(tracer.process.pid)
    flood.stdin.close()
    lines = [flood.stdout.readline().split() for _ in cpus]
    time.sleep(0.2)
    cpu = cpu_seconds(tracer.process.pid) - before
    calls = sum(int(line[0]) for line in lines)
    tracer.stop()
    flood.wait()
    loss = tracer.loss()
    return {"producers": producers, "rate asked": rate, "calls": calls,
            "ns per call": max(float(line[1]) for line in lines),
            "stored": loss["stored"], "dropped": sum(loss["dropped"].values()),
            "stored per s": loss["stored"] / SECONDS,
            "bytes per record": tracer.capture.stat().st_size / max(loss["stored"], 1),
            "consumer ms per million": cpu * 1e9 / max(loss["stored"], 1),
            "memory MiB": tracer.memory}


def main(rounds):
    rows = []
    for producers in (1, 2):
        for rate in (TARGET, 0):
            tries = [measure(producers, rate) for _ in range(min(rounds, 3))]
            # the worst of all for loss, the median for the rest
            tries.sort(key=lambda row: row["consumer ms per million"])
            row = dict(tries[len(tries) // 2])
            row["dropped"] = max(one["dropped"] for one in tries)
            row["tries"] = len(tries)
            rows.append(row)
    return {"target": TARGET, "seconds": SECONDS, "rows": rows}
