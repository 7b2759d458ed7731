# SPDX-License-Identifier: BSD-3-Clause
"""
Sweeps of this one machine (`ucxbpf sweep run`), between all its GPUs and the host's memory, with the
faults of a table: each verdict names exactly what is wrong.
"""
import json
import os
import shutil
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import job
from faults import OFF
from outcome import differences, said

LIMIT = 30  # seconds for a sweep that ought to take five
KEPT = 2  # folders of wrong runs of a row

POLICY = """spec: ucxbpf-policy-v1
site: gpu-check
classes: {{ node: {{ nodes: "{node}"{gpus} }} }}
{expect}rules: {{ {rules} }}
"""

RSH = """#!/bin/sh
# every host is this one
shift
exec sh -c "$*"
"""

RANK = """#!/bin/sh
local=$OMPI_COMM_WORLD_LOCAL_RANK
backwards={backwards}
{rank}
exec {program} "$@"
"""


class Bed:
    """This machine, as a site of one node."""

    def __init__(self, place):
        self.place, self.node = place, socket.gethostname()
        self.rsh = self.script(place.results / "rsh", RSH)

    @staticmethod
    def script(path, text):
        path.write_text(text)
        path.chmod(0o755)
        return path

    def expected(self, fault):
        """The row with this node's name, and its ranks'."""
        ranks = self.place.gpus if fault.gpus else 2
        return replace(fault, expect=sorted({line.format(node=self.node, rank=rank)
                                             for line in fault.expect for rank in range(ranks)}))

    def policy(self, fault, path):
        rules = {**{rule: "{ severity: off }" for rule in OFF}, **fault.rules}
        path.write_text(POLICY.format(
            node=self.node, gpus=f", gpus: {self.place.gpus}" if fault.gpus else "",
            expect=f"expect:\n  - {fault.lines}\n" if fault.lines else "",
            rules=", ".join(f"{rule}: {text}" for rule, text in rules.items() if text)))
        return path

    def ucx(self, fault):
        """Its UCX; where a module is missing, a copy."""
        ucx = self.place.bundle / "ucx" / fault.ucx
        copy = self.place.results / f"ucx-{fault.ucx}-without-{fault.without}"
        if not fault.without:
            return ucx
        if not copy.exists():
            shutil.copytree(ucx, copy)
            (copy / "lib/ucx" / fault.without).unlink()
        return copy

    def environment(self, fault):
        libraries = [] if self.place.standin else [self.ucx(fault) / "lib"]
        if fault.runtime and not self.place.standin:
            libraries.append(self.place.bundle / "lib")
        libraries += [*self.place.drivers, os.environ.get("LD_LIBRARY_PATH")]
        made = dict(os.environ, **job.MPI_ENVIRONMENT)
        made.update(fault.set)
        return dict(made, LD_LIBRARY_PATH=":".join(str(path) for path in libraries if path))

    def traced(self, command, fault, folder):
        """Returns its exit status."""
        with open(folder / "said", "ab") as log:
            return job.finish(subprocess.Popen(
                list(map(str, command)), env=self.environment(fault), cwd=folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True), LIMIT)

    def sweep(self, fault, folder):
        backwards = ",".join(str(i) for i in reversed(range(self.place.gpus)))
        traffic = self.script(folder / "traffic", RANK.format(
            backwards=backwards, rank=fault.rank, program=self.place.bundle / "ucxbpf-traffic-openmpi"))
        status = self.traced(
            [self.place.ucxbpf, "sweep", "run", "-q", "-P", self.policy(fault, folder / "site.yaml"),
             "--launcher", "hosts", "--rsh", self.rsh, "--mpirun", self.place.mpirun,
             "--traffic", traffic, "--limit", LIMIT - 10, *fault.options, "-o", folder / "sweep"],
            fault, folder)
        return status, folder / "sweep/report.json"

    def passive(self, fault, folder):
        """Somebody's own job, judged by its capture."""
        name, *arguments = fault.program
        devices = ",".join(str(i) for i in range(self.place.gpus))
        runtime = "dynamic" if self.place.standin else "static"
        capture, report = folder / "job.ucxb", folder / "report.json"
        status = self.traced(
            [self.place.ucxbpf, "run", "-q", "-o", capture, "-L", ":".join(self.place.drivers), "--",
             self.place.mpirun, "-n", self.place.gpus, self.place.bundle / "progs" / runtime / name,
             devices, *arguments], fault, folder)
        if status:
            return f"job: {status}", report
        checked = subprocess.run(
            [self.place.ucxbpf, "check", "-f", "json", "-P", self.policy(fault, folder / "site.yaml"),
             capture], capture_output=True, text=True, timeout=LIMIT)
        report.write_text(checked.stdout)
        return checked.returncode, report

    def run(self, fault, folder):
        """Returns the exit status and what is not in order."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        status, report = (self.passive if fault.program else self.sweep)(fault, folder)
        try:
            return status, said(json.loads(report.read_text())["findings"])
        except (OSError, ValueError) as error:
            return status, [f"no report: {error}"]


class Series:
    """So many runs of each row, row by row again and again, several at a time."""

    def __init__(self, bed, rows, runs, say):
        self.bed, self.say = bed, say
        self.rows = [bed.expected(row) for row in rows]
        self.runs = runs
        self.made = {row.name: [] for row in rows}  # whether each run was exact
        self.kept = {row.name: 0 for row in rows}
        self.lock = threading.Lock()
        self.results = open(bed.place.results / "sweeps.ndjson", "w")

    def add(self, row, run, status, lines, seconds, folder):
        wrong = differences(row, status, lines)
        with self.lock:
            self.made[row.name].append(not wrong)
            exact = sum(self.made[row.name])
            self.results.write(json.dumps({
                "row": row.name, "run": run, "exact": not wrong, "status": status, "said": lines,
                "expected": {"status": row.status, "said": row.expect}, "ucx": row.ucx,
                "seconds": round(seconds, 2)}) + "\n")
            self.results.flush()
            self.say("\n".join([f"{'WRONG' if wrong else 'ok':5} {seconds:6.2f}s  {row.name}  "
                                f"({exact} of {len(self.made[row.name])})",
                                *(f"       {line}" for line in wrong)]))
            self.kept[row.name] += bool(wrong)
            keep = run == 0 or (wrong and self.kept[row.name] <= KEPT)
        if not keep:
            shutil.rmtree(folder)

    def one(self, run, row, until):
        begun = time.monotonic()
        if begun > until:
            return
        folder = self.bed.place.results / row.name / str(run)
        try:
            status, lines = self.bed.run(row, folder)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            status, lines = None, [f"not run: {error}"]
        self.add(row, run, status, lines, time.monotonic() - begun, folder)

    def all(self, until, jobs):
        for row in self.rows:
            self.bed.environment(row)  # makes what runs beside each other share
        with ThreadPoolExecutor(jobs) as pool:
            for future in [pool.submit(self.one, run, row, until)
                           for run in range(self.runs) for row in self.rows]:
                future.result()
        self.end()

    def end(self):
        made = [exact for row in self.made.values() for exact in row]
        for name, row in self.made.items():
            self.say(f"{name:28} {sum(row)} of {len(row)}")
        missing = self.runs * len(self.rows) - len(made)
        if missing:
            self.say(f"{missing} of {self.runs * len(self.rows)} runs not made: the time was over")
        self.say(f"{sum(made)} of {len(made)} exact")
        self.wrong = sum(made) < len(made) or not made
