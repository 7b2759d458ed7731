# SPDX-License-Identifier: BSD-3-Clause
"""Nodes made of namespaces, a Slurm among them, and sweeps over them with something wrong."""
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
BUILD = TOP / os.environ.get("O", "build")
SLURM = TOP / "tests/slurm"

# As a user's shell would have it: Debian's Open MPI uses UCX only when it is told to.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_pml_ucx_tls": "any",
    "OMPI_MCA_pml_ucx_devices": "any",
    "OMPI_MCA_osc": "ucx",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_orte_tmpdir_base": "/tmp",
    "HYDRA_IFACE": "eth0",
    "UCX_NET_DEVICES": "eth0",
    "UCX_TLS": "tcp,sysv,self,cma",
}

POLICY = """spec: ucxbpf-policy-v1
site: bed
classes: {{ node: {{ nodes: "n[0-{last}]", nics: [{nics}]{class_more} }} }}
expect:
  - {{ loc: inter, tl: [tcp] }}
  - {{ loc: intra, tl: [posix, sysv, cma, self] }}
rules:
{rules}"""

# All nodes share the cores of this machine, with whatever else runs there: how fast they are is judged only
# where that is the fault, and then by more than a busy machine makes of it.
UNTIMED = ("FAB-03", "PERF-01", "PERF-02", "PERF-03", "PERF-04", "PROTO-01")


class Bed:
    """So many nodes with so many networks; made anew where that changes."""

    def __init__(self, folder):
        self.folder, self.nodes, self.rails, self.wrecked = Path(folder), 0, 0, False
        self.output = None  # of the sweep now
        self.environment = dict(os.environ, BED="uf")

    def need(self, nodes, rails):
        if self.wrecked or (nodes, rails) != (self.nodes, self.rails):
            self.down()
            self.environment["RAILS"] = str(rails)
            subprocess.run([SLURM, "up", str(nodes)], env=self.environment, check=True, timeout=60)
            self.nodes, self.rails = nodes, rails

    def down(self):
        if self.nodes:
            subprocess.run([SLURM, "down"], env=self.environment, timeout=60)
        self.nodes, self.wrecked = 0, False

    def on(self, node, script, check=True):
        """A shell script on a node; what it mounts or sets stays there."""
        return subprocess.run([SLURM, "enter", node, "sh", "-ec", script], env=self.environment,
                              check=check, timeout=60, stdin=subprocess.DEVNULL)

    def start(self, node, script):
        """The same, in the background: a process to be ended."""
        return subprocess.Popen([SLURM, "enter", node, "sh", "-ec", script], env=self.environment,
                                stdin=subprocess.DEVNULL, start_new_session=True)

    def wrapper(self, name, script, program):
        """A program that is another one, after a shell script."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\nexec $prefix {program} \"$@\"\n")
        path.chmod(0o755)
        return path

    def pids(self, node):
        """Of the traffic's ranks there."""
        return sorted(int(p.suffix[1:]) for p in self.output.glob(f"pids/{node}.*") if p.suffix[1:].isdigit())

    def tracer(self, node):
        """Its process, found by the file that it writes."""
        wanted = f"{self.output}/nodes/{node}/trace.ucxb".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"attach" in words and wanted in words:
                return int(folder.name)
        return None

    def wait_for_go(self, job):
        """Returns whether the traffic has begun."""
        while job.poll() is None and not (self.output / "go").exists():
            time.sleep(0.02)
        return job.poll() is None

    def sweep(self, fault, limit=120):
        """Returns the exit status and what is not in order: "VERDICT RULE SUBJECT"."""
        output = self.output = self.folder / fault.name
        shutil.rmtree(output, ignore_errors=True)
        policy = self.folder / "site.yaml"
        nics = ", ".join(f"eth{i}" for i in range(fault.rails))
        rules = {**{rule: "{ severity: off }" for rule in UNTIMED}, **fault.rules}
        policy.write_text(POLICY.format(last=fault.nodes - 1, nics=nics, class_more=fault.class_more, rules="".join(
            f"  {rule}: {settings}\n" for rule, settings in rules.items() if settings)))
        environment = {**ENVIRONMENT, **fault.environment}
        traffic = self.wrapper("traffic", fault.rank, BUILD / f"ucxbpf-traffic-{fault.mpi}")
        program = self.wrapper("ucxbpf", fault.tracer, BUILD / "ucxbpf")
        command = [SLURM, "enter", "n0", "env", *(f"{k}={v}" for k, v in environment.items()),
                   BUILD / "ucxbpf", "sweep", "run", "-P", policy, "-o", output,
                   "--traffic", traffic, "--ucxbpf", program, "--mpi", fault.mpi,
                   "--ranks", str(fault.ranks), "--launcher", fault.launcher,
                   "--rsh", TOP / "tests/rsh", *fault.options]
        with open(self.folder / f"{fault.name}.said", "w") as said:
            job = subprocess.Popen(list(map(str, command)), env=self.environment, stdout=said,
                                   stderr=said, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                fault.during(self, job)
                status = job.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
                status = "timeout"
        report = output / "report.json"
        findings = json.loads(report.read_text())["findings"] if report.exists() else []
        return status, sorted(f"{f['verdict']} {f['rule']} {f['subject']}" for f in findings
                              if f["verdict"] not in ("pass", "skip"))
