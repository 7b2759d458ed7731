# SPDX-License-Identifier: BSD-3-Clause
"""
Part "apps": whole runs of PETSc CG, GROMACS and LAMMPS, untraced and traced in several ways, in random order
within a round.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import machine, stats
from .tracers import memory_mib

FOLDER = machine.BUILD / "tests/apps"
APPS = {
    "PETSc CG": ([FOLDER / "ex2", "-m", "950", "-n", "950", "-ksp_type", "cg", "-pc_type",
                  "jacobi", "-ksp_monitor_short"], FOLDER / "ex2", "libpetsc3.18-dev-examples"),
    "GROMACS, 2000 steps": (["gmx_mpi", "-quiet", "mdrun", "-s", FOLDER / "2500.tpr", "-nsteps",
                             "2000", "-reprod", "-ntomp", "1", "-nb", "cpu"],
                            FOLDER / "2500.tpr", "gromacs"),
    "LAMMPS": (["lmp", "-in", machine.TOP / "tests/apps/lj.in", "-var", "steps", "5000", "-log",
                "none"], shutil.which("lmp"), "lammps"),
}
# The job's own clock, within what starts it: a tracer's start and end are told apart from it.
CLOCK = 'a=$EPOCHREALTIME; "$@"; r=$?; echo "$a $EPOCHREALTIME" >job.seconds; exit $r'


def run(command, folder, tracer):
    """Facts of one run; tracer: options of `ucxbpf run`, None = untraced."""
    env = dict(os.environ, **machine.MPI_ENVIRONMENT)
    line = ["bash", "-c", CLOCK, "job", *machine.MPIRUN, *map(str, command)]
    if tracer is not None:
        line = [machine.UCXBPF, "run", "-q", "-o", "job.ucxb", *tracer, "--", *line]
    start, memory = time.monotonic(), 0
    with open(folder / "out", "w") as out:
        process = subprocess.Popen(line, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=out)
        while process.poll() is None:
            if tracer is not None:
                try:
                    memory = max(memory, memory_mib(process.pid))
                except OSError:
                    pass
            time.sleep(0.1)
    whole = time.monotonic() - start
    if process.returncode:
        raise RuntimeError(f"{command[0]}: exit status {process.returncode}: "
                           + (folder / "out").read_text()[-300:])
    begin, end = map(float, (folder / "job.seconds").read_text().split())
    facts = {"job s": end - begin, "whole s": whole, "memory MiB": memory}
    if tracer is not None:
        facts.update(capture_facts(folder / "job.ucxb"))
    return facts


def capture_facts(capture):
    facts = {"log MiB": capture.stat().st_size / 2**20}
    report = subprocess.run([machine.UCXBPF, "replay", "--json", capture], capture_output=True,
                            text=True)
    loss = json.loads(report.stdout)["loss"]
    facts.update(records=loss["stored"], dropped=sum(loss["dropped"].values()))
    return facts


def ways():
    return {"untraced": None, "exact": ["--exact"], "default": [], "count": ["--count"], "budget 1 %": ["--budget", "1%"]}


def summary(runs):
    base = runs.pop("untraced")
    result = {"untraced s": stats.quartiles([one["job s"] for one in base]), "traced": {}}
    for way, facts in runs.items():
        last = facts[-1]
        result["traced"][way] = {
            "job s": stats.quartiles([one["job s"] for one in facts]),
            "slower": stats.ratios([(one["job s"], plain["job s"])
                                    for one, plain in zip(facts, base)]),
            "whole slower": stats.ratios([(one["whole s"], plain["whole s"])
                                          for one, plain in zip(facts, base)]),
            "log MiB": last["log MiB"], "records": last["records"],
            "dropped": sum(one["dropped"] for one in facts),
            "bytes per record": last["log MiB"] * 2**20 / max(last["records"], 1),
            "memory MiB": max(one["memory MiB"] for one in facts),
        }
    return result


def measure(name, rounds, seconds):
    command, needs, package = APPS[name]
    if not needs or not os.path.exists(needs):
        return {"skipped": f"not installed (package {package})"}
    runs, begun = {way: [] for way in ways()}, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ucxbpf-bench-") as folder:
        for number in range(rounds):
            for way, options in random.sample(sorted(ways().items(), key=str), len(runs)):
                runs[way].append(run(command, Path(folder), options))
            print(f"  apps: {name}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            if time.monotonic() - begun > seconds:
                break
    return {"rounds": number + 1, **summary(runs)}


def main(rounds):
    subprocess.run([machine.TOP / "tests/apps/prepare", FOLDER], check=True)
    rounds = rounds if rounds < 10 else max(10, rounds // 2)
    seconds = 60 * float(os.environ.get("MINUTES", "inf")) / len(APPS)
    return {name: measure(name, rounds, seconds) for name in APPS}
