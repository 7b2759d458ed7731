# SPDX-License-Identifier: BSD-3-Clause
"""
What is compared: start(job) returns once the probes are in place, stop() once they are gone. A case
is made anew for each visit.
"""
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from . import machine, sites

TRACEFS = Path("/sys/kernel/tracing")


def wait_for(what, condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} does not come up")
        time.sleep(0.01)


def interrupt(process, seconds=120):
    process.send_signal(signal.SIGINT)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def cpu_seconds(pid):
    """CPU time of a process, with its threads that have ended: its clock, as clock_getcpuclockid(3) has it."""
    return time.clock_gettime(~pid << 3 | 2)


def memory_mib(pid):
    """Peak resident memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0


class Ucxbpf:
    pause = 0.1  # seconds, at the end of start()
    stop_limit = 120

    def __init__(self, *options):
        self.options = options
        self.capture = machine.OUT / "visit.ucxb"

    def start(self, pids):
        self.capture.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [machine.UCXBPF, "attach", "-q", "--budget", "none", "-o", self.capture, "-p",
             ",".join(map(str, pids)), *self.options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # the file begins when the ranks' records begin
        wait_for("ucxbpf", lambda: self.process.poll() is not None or (
            self.capture.exists() and self.capture.stat().st_size))
        if self.process.poll() is not None:
            raise RuntimeError(f"ucxbpf: {self.process.stderr.read().strip()}")
        self.begun = time.monotonic()
        time.sleep(self.pause)

    def sites(self):
        return sites.of_process(self.process.pid)

    def stop(self):
        self.memory = memory_mib(self.process.pid)
        interrupt(self.process, self.stop_limit)

    def loss(self):
        """produced, stored and dropped records of the capture that stop() has left."""
        run = subprocess.run([machine.UCXBPF, "replay", "--json", self.capture],
                             capture_output=True, text=True)
        return json.loads(run.stdout)["loss"] if run.returncode in (0, 4) else None


class Floor:
    """Empty programs at a list of sites."""

    pause = 0

    def __init__(self, where, mode="attach"):
        self.where, self.mode = where, mode

    def start(self, pids):
        path = machine.OUT / "visit.sites"
        sites.write(self.where, path)
        self.process = subprocess.Popen(
            [machine.TOOLS / "floor", self.mode, path], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline().split()
        if ready[:1] != ["ready"]:
            raise RuntimeError("the empty probes could not be placed")
        self.placed = int(ready[1])

    def counts(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [int(word) for word in self.process.stdout.readline().split()]

    def stop(self):
        self.process.stdin.close()
        self.process.wait(120)
        self.process.stdout.close()


class Bpftrace:
    """Counts entries, and returns where ucxbpf has both ends, a counter each."""

    missing = None if shutil.which("bpftrace") else "no bpftrace (package bpftrace)"

    def __init__(self, where):
        self.where = where

    def probes(self):
        """
        Debian's build takes no offset within a function. Sites further in are left out (which
        favours it): at the function's start, the kernel would single-step some of them.
        """
        tables = {}
        for number, site in enumerate(self.where):
            symbols = tables.setdefault(site.path, sites.Symbols(site.path))
            name, distance = symbols.name_at(site.offset) or (None, 0)
            place = name or f"{symbols.address(site.offset):#x}"
            if distance:
                continue
            yield f"uprobe:{site.path}:{place} {{ @e{number} = count(); }}"
            if site.kind == "span":
                yield f"uretprobe:{site.path}:{place} {{ @r{number} = count(); }}"

    def start(self, pids):
        script = machine.OUT / "visit.bt"
        mount_tracefs()
        script.write_text("BEGIN { printf(\"ready\\n\"); }\n" + "\n".join(self.probes()) + "\n")
        self.process = subprocess.Popen(
            ["bpftrace", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, BPFTRACE_MAX_PROBES="4096", BPFTRACE_STRLEN="64"))
        for line in self.process.stdout:
            if line.strip() == "ready":
                return
        raise RuntimeError("bpftrace: " + self.process.stderr.read().strip()[-300:])

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=300)


def mount_tracefs():
    if not (TRACEFS / "uprobe_events").exists():
        subprocess.run(["mount", "-t", "tracefs", "nodev", TRACEFS], check=True)


class Perf:
    """perf record of uprobe events at the same offsets."""

    missing = None if shutil.which("perf") else "no perf (package linux-perf)"
    group = "ucxbpfbench"

    def __init__(self, where):
        self.where = where

    @staticmethod
    def define(line):
        events = os.open(TRACEFS / "uprobe_events", os.O_WRONLY | os.O_APPEND)
        os.write(events, line.encode() + b"\n")
        os.close(events)

    def start(self, pids):
        mount_tracefs()
        self.names = []
        for number, site in enumerate(self.where):
            for sort, name in ("p", "enter"), ("r", "leave"):
                if sort == "r" and site.kind != "span":
                    continue
                self.names.append(f"{self.group}/{name}{number}")
                self.define(f"{sort}:{self.names[-1]} {site.path}:{site.offset:#x}")
        self.process = subprocess.Popen(
            ["perf", "record", "-q", "-o", machine.OUT / "visit.perf", "-e",
             ",".join(name.replace("/", ":") for name in self.names), "-a"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # it does not say when it has begun
        time.sleep(2)
        if self.process.poll() is not None:
            self.undefine()
            raise RuntimeError("perf: " + self.process.stderr.read().decode().strip()[-300:])

    def undefine(self):
        for name in self.names:
            self.define(f"-:{name}")

    def stop(self):
        interrupt(self.process, 300)
        self.undefine()
        (machine.OUT / "visit.perf").unlink(missing_ok=True)


class Nothing:
    def start(self, pids):
        pass

    def stop(self):
        pass
