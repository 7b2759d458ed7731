# SPDX-License-Identifier: BSD-3-Clause
"""
Part "pair": two builds of ucxbpf, in turn around the same ranks (../job/node.c): how long attach and detach take
while the ranks sleep, and the tracer's CPU time per million records while they exchange messages.

Only where it is asked for by name. Environment, beside that of ../run:
  OTHER     the build to compare UCXBPF with: needed
  ATTACH    "32 128 192": numbers of sleeping ranks, each with an endpoint to each other one
  RANKS     "32": numbers of ranks that exchange messages, a core for each
  PATTERNS  "allreduce alltoall rate"
  ROUNDS    visits of each build (20)
  RESULTS   a folder that gets the result, too, after each number of ranks
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from . import job, machine, markdown, stats
from .node import PATTERNS, NodeJob, Tracer, replayed

BATCH, BATCHES = 25, 30  # milliseconds, of messages
TIMES = {"attach ms": r"processes begin after ([\d.]+) ms", "detach ms": r"no probe is left after ([\d.]+) ms"}


class Sleepers(NodeJob):
    """More ranks than cores."""

    def begin(self, command, env):
        env["OMPI_MCA_rmaps_base_oversubscribe"] = env["OMPI_MCA_mpi_yield_when_idle"] = "1"
        job.Asked.begin(self, [command[0], "--bind-to", "none", *command[-4:]], env)


def attach(ping):
    run = subprocess.run([machine.UCXBPF, "attach", "-q", "--debug", "--level", "uct", "-d", "0.3", "-o",
                          machine.OUT / "visit.ucxb", "-p", ",".join(map(str, ping.pids))],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return {name: float(re.search(pattern, run.stderr)[1]) for name, pattern in TIMES.items()}


def trace(ping, pattern):
    tracer = Tracer("--level", "uct")
    tracer.start(ping.pids)
    try:
        us = stats.median(ping.us(pattern, BATCH, BATCHES))
    finally:
        tracer.stop()
    loss = replayed(tracer.capture)[0]["loss"]
    stored = loss["stored"]
    return {"consumer ms per million": tracer.facts["cpu s"] * 1e9 / stored, "us": us,
            "bytes per record": tracer.capture.stat().st_size / stored, "dropped": sum(loss["dropped"].values()),
            "memory MiB": tracer.facts["memory MiB"]}


def in_turn(programs, rounds, visit):
    """Each program's measurements, those of one round beside each other."""
    rows = {name: [] for name in programs}
    for number in range(rounds):
        for name in sorted(programs, reverse=number % 2):
            machine.UCXBPF = programs[name]
            rows[name].append(visit())
    return rows


def numbers(name, default):
    return [int(word) for word in os.environ.get(name, default).split()]


def cell(values):
    least, middle, most = stats.quartiles(values)
    return f"{middle:,.1f} ({least:,.1f}–{most:,.1f})"


def table(measured):
    lines = []
    for what, rows in measured.items():
        for fact in rows["new"][0]:
            old, new = ([row[fact] for row in rows[name]] for name in ("old", "new"))
            ratio = stats.ratios(zip(new, old))
            lines.append([what, fact, cell(old), cell(new), f"{ratio[1]:.2f} ({ratio[0]:.2f}–{ratio[2]:.2f})"
                          if ratio else "-"])
    return markdown.table(["ranks", "", "old", "new", "new by old, of one round"], lines)


def main(rounds):
    other = os.environ.get("OTHER")
    if not other:
        sys.exit("bench: pair needs OTHER, a build of ucxbpf to compare with")
    programs = {"old": Path(other).resolve(), "new": machine.UCXBPF}
    measured = {}

    def measure(ping, what, visit):
        measured[what] = in_turn(programs, rounds, visit)
        for folder in filter(None, (machine.OUT, os.environ.get("RESULTS"))):
            Path(folder).mkdir(parents=True, exist_ok=True)
            (Path(folder) / "pair.json").write_text(json.dumps(measured, indent=1) + "\n")
            (Path(folder) / "pair.md").write_text(table(measured) + "\n")
        print(f"  pair: {what}", file=sys.stderr, flush=True)

    for ranks in numbers("ATTACH", "32 128 192"):
        ping = Sleepers(ranks, False)
        ping.us("alltoall", 1, 1)
        measure(ping, f"{ranks}, asleep", lambda: attach(ping))
        ping.end()
    for ranks in numbers("RANKS", "32"):
        ping = NodeJob(ranks, ranks > machine.cores())
        for pattern in os.environ.get("PATTERNS", "").split() or PATTERNS:
            measure(ping, f"{ranks}, {pattern}", lambda: trace(ping, pattern))
        ping.end()
    machine.UCXBPF = programs["new"]
    return measured
