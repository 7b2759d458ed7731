# SPDX-License-Identifier: BSD-3-Clause
"""Nodes made of namespaces, a Slurm among them, and sweeps over them with something wrong."""
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from outcome import said

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
{lines}  - {{ loc: inter, tl: [tcp] }}
  - {{ loc: intra, tl: [posix, sysv, cma, self] }}
rules: {{{rules}}}
"""


# A mount namespace with a boot id of its own, as virtual machines and some containers have one.
CONTAIN = """set -e
cat /proc/sys/kernel/random/uuid >"$0.$$"
mount --bind "$0.$$" /proc/sys/kernel/random/boot_id
exec "$@\""""


# Starts a program with the libraries of the folder "newer": the loader, too.
NEWER = """set -e
new=$(dirname "$0")/newer
mount --bind "$new/ld-linux-x86-64.so.2" "$(readlink -f /lib64/ld-linux-x86-64.so.2)"
export LD_LIBRARY_PATH=$new
exec "$@\""""


class Bed:
    """So many nodes with so many networks; made anew where that changes."""

    def __init__(self, folder):
        self.folder, self.nodes, self.rails, self.wrecked = Path(folder), 0, 0, False
        self.output = None  # of the sweep now
        self.environment = {"BED": "uf", **os.environ}

    def need(self, nodes, rails):
        if self.wrecked or (nodes, rails) != (self.nodes, self.rails):
            self.down()
            self.environment["RAILS"] = str(rails)
            subprocess.run([SLURM, "up", str(nodes)], env=self.environment, check=True, timeout=60)
            self.nodes, self.rails = nodes, rails

    def has_debian13(self):
        """Makes a root of it, once."""
        return subprocess.run([TOP / "tests/lib/debian13", "make", BUILD / "debian13"], timeout=600,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

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
        """A program that is another one, $program, after a shell script."""
        return self.helper(name, f'program={program}\nroot={BUILD}/debian13\n{script}\nexec $prefix $program "$@"')

    def pids(self, node):
        """Of the traffic's ranks there."""
        return sorted(int(p.suffix[1:]) for p in self.output.glob(f"pids/{node}.*") if p.suffix[1:].isdigit())

    def helper(self, name, script):
        """A program for the nodes."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

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

    def wait_for(self, job, there):
        """Returns whether the sweep still runs when there() is true."""
        while job.poll() is None and not there():
            time.sleep(0.02)
        return job.poll() is None

    def wait_for_go(self, job):
        """Until the ranks may begin."""
        return self.wait_for(job, (self.output / "go").exists)

    def wait_for_round(self, job, rank):
        """Until that rank is in the first round between nodes, as its ledger says."""
        begin = '"is":"begin","stage":"path"'
        return self.wait_for(job, lambda: any(begin in ledger.read_text() for ledger in
                                              self.output.glob(f"ledger/*.{rank}.ndjson")))

    def sweep(self, fault, earlier=None, limit=400):
        """
        Returns the exit status and what is not in order: "VERDICT RULE SUBJECT". earlier: the folder of a sweep to
        compare this one with.
        """
        output = self.output = self.folder / fault.name
        shutil.rmtree(output, ignore_errors=True)
        policy = self.folder / "site.yaml"
        nics = ", ".join(f"eth{i}" for i in range(fault.rails))
        policy.write_text(POLICY.format(
            last=fault.nodes - 1, nics=nics, class_more=fault.class_more,
            lines="".join(f"  - {line}\n" for line in fault.lines),
            rules=", ".join(f"{rule}: {settings}" for rule, settings in fault.rules.items())))
        environment = {**ENVIRONMENT, **fault.environment}
        traffic = self.wrapper("traffic", fault.rank, BUILD / f"ucxbpf-traffic-{fault.mpi}")
        self.helper("contain", CONTAIN)
        self.helper("newer-loader", NEWER)
        program = self.wrapper("ucxbpf", fault.tracer, BUILD / "ucxbpf")
        command = [SLURM, "enter", "n0", "env", *(f"{k}={v}" for k, v in environment.items()),
                   BUILD / "ucxbpf", "sweep", "run", "-P", policy, "-o", output,
                   "--traffic", traffic, "--ucxbpf", program, "--mpi", fault.mpi,
                   "--ranks", str(fault.ranks), "--launcher", fault.launcher,
                   "--rsh", TOP / "tests/rsh", *fault.options, *(["--baseline", earlier] if earlier else [])]
        with open(self.folder / f"{fault.name}.said", "w") as out:
            job = subprocess.Popen(list(map(str, command)), env=self.environment, stdout=out,
                                   stderr=out, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                fault.during(self, job)
                status = job.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
                status = "timeout"
        report = output / "report.json"
        findings = json.loads(report.read_text())["findings"] if report.exists() else []
        return status, said(findings)
