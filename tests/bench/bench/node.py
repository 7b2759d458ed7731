# SPDX-License-Identifier: BSD-3-Clause
"""
Part "node": a whole node's ranks (../job/node.c), more and more of them. For each number of ranks, tracers
come and go around one running job, an untraced visit between any two; and tracers join a loop that runs.

Only where it is asked for by name. Environment, beside that of ../run:
  RANKS     "2 4 8": numbers of ranks (2 4 8 16 24 32, as far as there are cores)
  PATTERNS  "allreduce alltoall rate"
  CASES     "floor-uct uct floor-count count ucp mpi derive budget join-uct join-count join-budget"
  MINUTES   in all, shared out among the numbers of ranks; ROUNDS: at most (5)
  RESULTS   a folder that gets the results, too, after each case
"""
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

from . import job, machine, node_tables, stats, tracers

RANKS = [2, 4, 8, 16, 24, 32]
PATTERNS = ["allreduce", "alltoall", "rate"]
TRACED = 25, 20  # milliseconds of a batch, batches
UNTRACED = 20, 7
DERIVING = 60  # batches until what can be derived has lost its probes
JOIN_BLOCK, JOIN_BEFORE, JOIN_SECONDS = 5, 1.5, 7
# Seconds. Nothing that hangs costs the other cases their time.
JOB_LIMIT, STOP_LIMIT, REPLAY_LIMIT = 60, 30, 90

# Which bytes their calls send is the MPI library's choice of an algorithm.
COLLECTIVES = {"MPI_Allreduce", "MPI_Alltoall", "MPI_Barrier", "MPI_Bcast"}

Case = namedtuple("Case", "name make patterns")


class Ledger:
    """What ranks say that they have called, or what a report says: pid -> function -> [calls, bytes]."""

    def __init__(self):
        self.ranks = {}

    def add(self, pid, function, calls, sent):
        row = self.ranks.setdefault(pid, {}).setdefault(function, [0, 0])
        row[0] += calls
        row[1] += 0 if function in COLLECTIVES else sent

    @classmethod
    def of_report(cls, report):
        ledger = cls()
        pids = {process["id"]: process["tgid"] for process in report["processes"]}
        for row in report["calls"]:
            ledger.add(pids[row["process"]], row["function"], row["count"], row["bytes"])
        return ledger

    def calls(self):
        return sum(row[0] for functions in self.ranks.values() for row in functions.values())

    def sums(self, own):
        """The calls beside those of the ranks' own ledger, and whether all calls, and bytes of sends, agree."""
        return {"calls": self.calls(), "own calls": own.calls(), "exact": self.ranks == own.ranks}


class NodeJob(job.Asked):
    def __init__(self, ranks, hardware_threads):
        super().__init__(ranks)
        libraries = machine.OUT / "lib"
        job.private_libraries(libraries)
        env = dict(os.environ, **machine.MPI_ENVIRONMENT, LD_LIBRARY_PATH=str(libraries))
        if (libraries / "mca").exists():
            env["OMPI_MCA_mca_base_component_path"] = str(libraries / "mca")
        to = "hwthread" if hardware_threads else "core"
        self.lines = 0
        self.begin([machine.MPIRUN[0], *(["--use-hwthread-cpus"] if hardware_threads else []), "--bind-to", to,
                    "--map-by", to, "-n", str(ranks), machine.TOOLS / "job/node", self.folder], env)

    def tell(self, line):
        self.lines += 1
        for pipe in self.pipes:
            os.write(pipe, line.encode() + b"\n")

    def answer(self, seconds=JOB_LIMIT):
        return self.line(seconds).split()

    def us(self, pattern, milliseconds, batches):
        """us per iteration, a number per batch."""
        self.tell(f"run {pattern} {milliseconds} {batches}")
        return [float(word) for word in self.answer()]

    def ledger_rows(self, rank):
        end = time.monotonic() + 10
        while True:
            ledger = self.folder / f"ledger.{rank}"
            rows = ledger.read_text().splitlines() if ledger.exists() else []
            if rows[:1] == [str(self.lines)] and rows[-1] == "end":
                return [row.split() for row in rows[1:-1]]
            if time.monotonic() > end:
                raise RuntimeError(f"rank {rank} writes no ledger")
            time.sleep(0.01)

    def ledger(self):
        """Of the last line."""
        ledger = Ledger()
        for rank, pid in enumerate(self.pids):
            for function, calls, sent in self.ledger_rows(rank):
                ledger.add(pid, function, int(calls), int(sent))
        return ledger

    def end(self):
        """Also of one that hangs: mpirun takes its ranks along when it is asked to end."""
        if self.alive():
            for pipe in self.pipes:
                os.write(pipe, b"quit\n")
            for patience in 20, 10:
                try:
                    self.process.wait(patience)
                    break
                except subprocess.TimeoutExpired:
                    self.process.send_signal(signal.SIGTERM)
        super().close(5)


def map_memory_mib(pid):
    """(of BPF maps in the kernel, of their pages that are mapped into the process, rings mostly)"""
    kernel = mapped = 0
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text = info.read_text()
        except FileNotFoundError:
            continue  # closed meanwhile, thus no map
        if "map_type:" in text:
            kernel += int(text.partition("memlock:")[2].split()[0])
    is_map = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if line.startswith("Rss:"):
            mapped += int(line.split()[1]) * 1024 * is_map
        elif "-" in line.split()[0]:
            is_map = "bpf-map" in line or "bpf_ringbuf" in line
    return kernel / 2**20, mapped / 2**20


def drain_seconds(pid):
    """CPU time of the threads that empty the rings, of those that have not ended."""
    ns = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            if (task / "comm").read_text().strip() == "ucxbpf-drain":
                ns += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            pass
    return ns / 1e9


class Tracer(tracers.Ucxbpf):
    """Keeps what a visit says about the tracer."""

    stop_limit = STOP_LIMIT

    def __init__(self, *options):
        super().__init__(*options)
        self.unmeasured = DERIVING if options == ("--level", "uct") else 0

    def start(self, pids):
        try:
            super().start(pids)
        except BaseException:
            tracers.interrupt(self.process, 5)
            raise
        self.cpu = tracers.cpu_seconds(self.process.pid)

    def stop(self):
        time.sleep(0.2)
        pid = self.process.pid
        kernel, mapped = map_memory_mib(pid)
        self.facts = {"cpu s": tracers.cpu_seconds(pid) - self.cpu, "drain cpu s": drain_seconds(pid), "rss MiB": tracers.memory_mib(pid),
                      "maps MiB": kernel}
        self.facts["memory MiB"] = self.facts["rss MiB"] - mapped + kernel
        super().stop()
        if self.process.returncode:
            raise RuntimeError(f"ucxbpf ended with status {self.process.returncode} (limit {STOP_LIMIT} s)")


def replayed(capture):
    """The report as JSON, and what it took; None where it takes too long."""
    with open(machine.OUT / "visit.report", "w+") as out:
        start = time.monotonic()
        process = subprocess.Popen(["timeout", str(REPLAY_LIMIT), machine.UCXBPF, "replay", "--json", capture],
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
        out.seek(0)
        if process.returncode not in (0, 4):
            return None, {"replay failed": process.returncode}
        return json.load(out), {"replay s": wall, "replay cpu s": usage.ru_utime + usage.ru_stime,
                                "replay MiB": usage.ru_maxrss / 1024}


def capture_facts(capture, own):
    report, facts = replayed(capture)
    facts["capture MiB"] = capture.stat().st_size / 2**20
    if report is None:
        return facts
    loss, matching = report["loss"], report["matching"]
    facts["derived"] = report.get("derived")
    facts["short_sends"] = report.get("short_sends")
    facts["loss"] = {"produced": loss["produced"], "stored": loss["stored"],
                     "dropped": sum(loss["dropped"].values())}
    facts["sums"] = Ledger.of_report(report).sums(own)
    if matching:
        facts["sends"], facts["matched"] = matching["sends"], matching["matched"]
    return facts


def join_facts(words, told, begun):
    """
    A loop's blocks, us per iteration each: before the tracer was told to attach, while it placed its probes,
    in the first second of records, and from 2 s after it was told. Times are those of CLOCK_MONOTONIC, ns.
    """
    iterations, ends = int(words[0]), [int(word) for word in words[1:]]
    blocks = [(a, b, (b - a) / 1e3 / iterations) for a, b in zip(ends, ends[1:])]

    def span(begin, end):
        inside = [us for a, b, us in blocks if a < end and b > begin]
        return {"median": stats.median(inside), "mean": sum(inside) / len(inside), "most": max(inside),
                "blocks": len(inside)} if inside else None

    second = 10**9
    return {"before": span(0, told), "placing": span(told, begun), "first second": span(begun, begun + second),
            "after 2 s": span(told + 2 * second, ends[-1]), "placing s": (begun - told) / second}


class Node:
    def __init__(self, rounds):
        self.rounds = rounds
        self.end = time.monotonic() + 60 * float(os.environ.get("MINUTES", "inf"))
        # cores, then threads of cores
        self.cpus, self.cores = len(os.sched_getaffinity(0)), machine.cores()
        chosen = os.environ.get("RANKS")
        wanted = [int(word) for word in chosen.split()] if chosen else RANKS
        self.ranks = [ranks for ranks in wanted if ranks <= self.cpus]
        self.patterns = os.environ.get("PATTERNS", "").split() or PATTERNS
        self.result = {
            "machine": machine.facts(), "cores": self.cores, "cpus": self.cpus, "visits": [], "joins": [],
            "failed": [], "left out": {str(ranks): f"there are {self.cpus} CPUs" for ranks in wanted
                                       if ranks > self.cpus}}

    def flush(self):
        for folder in filter(None, (machine.OUT, os.environ.get("RESULTS"))):
            folder = Path(folder)
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in (("node.json", json.dumps(self.result, indent=1) + "\n"),
                               ("node.md", node_tables.section(self.result) + "\n")):
                (folder / f"{name}.new").write_text(text)
                (folder / f"{name}.new").rename(folder / name)

    def failed(self, ranks, name, error):
        print(f"  node: {ranks} ranks: {name}: {error}", file=sys.stderr, flush=True)
        self.result["failed"].append({"ranks": ranks, "case": name, "why": str(error)})
        self.flush()

    def job(self, ranks):
        return NodeJob(ranks, ranks > self.cores)

    def run(self):
        for left, ranks in zip(range(len(self.ranks), 0, -1), self.ranks):
            now = time.monotonic()
            self.until = now + (self.end - now) / left
            self.ping = None
            try:
                self.of_ranks(ranks)
            except (RuntimeError, OSError) as error:
                self.failed(ranks, "job", error)
            finally:
                if self.ping:
                    self.ping.end()

    def of_ranks(self, ranks):
        self.ping = self.job(ranks)
        cases = self.cases()
        for number in range(self.rounds):
            for pattern in self.patterns:
                due = [case for case in cases if pattern in case.patterns]
                # the first round is in the order of what matters, should it be the only one
                if number:
                    random.shuffle(due)
                before = None
                for case in due:
                    if time.monotonic() > self.until:
                        return
                    before = self.measure(ranks, number, pattern, case, before)
            print(f"  node: {ranks} ranks: round {number + 1} of {self.rounds}", file=sys.stderr, flush=True)

    def measure(self, ranks, number, pattern, case, before):
        """Returns the untraced time behind it, None without."""
        row = {"ranks": ranks, "round": number, "pattern": pattern, "case": case.name}
        try:
            if case.name.startswith("join-"):
                self.result["joins"].append({**row, **self.join(pattern, case)})
                before = None
            else:
                row["before"] = before or self.untraced(pattern)
                row.update(self.visit(pattern, case))
                row["after"] = before = self.untraced(pattern)
                self.result["visits"].append(row)
        except (RuntimeError, OSError) as error:
            self.failed(ranks, f"{pattern}, {case.name}", error)
            if not self.ping.alive() or "does not answer" in str(error):
                self.ping.end()
                self.ping = self.job(ranks)
            before = None
        self.flush()
        return before

    def untraced(self, pattern):
        return stats.median(self.ping.us(pattern, *UNTRACED))

    def visit(self, pattern, case):
        tracer = case.make()
        start = time.monotonic()
        tracer.start(self.ping.pids)
        facts = {"start s": time.monotonic() - start - tracer.pause}
        try:
            begin = time.monotonic()
            milliseconds, batches = TRACED
            unmeasured = getattr(tracer, "unmeasured", 0)
            us = self.ping.us(pattern, milliseconds, unmeasured + batches)
            facts["us"] = stats.median(us[unmeasured:])
            facts["run s"] = time.monotonic() - begin
            own = self.ping.ledger()
        finally:
            start = time.monotonic()
            tracer.stop()
            facts["stop s"] = time.monotonic() - start
        if isinstance(tracer, Tracer):
            facts["stop s"] -= 0.2
            facts.update(tracer.facts, **capture_facts(tracer.capture, own))
        return facts

    def join(self, pattern, case):
        tracer = case.make()
        self.ping.tell(f"loop {pattern} {JOIN_BLOCK} {JOIN_SECONDS}")
        time.sleep(JOIN_BEFORE)
        told = time.monotonic_ns()
        tracer.start(self.ping.pids)
        try:
            words = self.ping.answer(JOB_LIMIT + JOIN_SECONDS)
        finally:
            tracer.stop()
        return {**join_facts(words, told, int(tracer.begun * 1e9)), **tracer.facts}

    def learn_sites(self, options):
        """What is in place once every pattern was seen."""
        tracer = Tracer(*options)
        tracer.start(self.ping.pids)
        for pattern in self.patterns:
            self.ping.us(pattern, 2, 1)
        found = tracer.sites()
        tracer.stop()
        return found

    def cases(self):
        full, count = ["--level", "uct", "--exact"], ["--count", "--exact"]
        every = set(self.patterns)
        found = []
        for name, options in (("uct", full), ("count", count)):
            where = self.learn_sites(options)
            found += [Case(f"floor-{name}", lambda w=where: tracers.Floor(w), every),
                      Case(name, lambda o=options: Tracer(*o), every)]
        budget = ["--budget", "3%"]
        extra = [("ucp", ["--level", "ucp", "--exact"]), ("mpi", ["--level", "mpi", "--no-call-ends"])]
        extra.insert(0, ("derive", ["--level", "uct"]))
        joins = [("uct", full), ("count", count)]
        if machine.knows_option("--budget"):
            extra.insert(0, ("budget", budget))
            joins.insert(0, ("budget", budget))
        found += [Case(name, lambda o=options: Tracer(*o), every) for name, options in extra]
        found += [Case(f"join-{name}", lambda o=options: Tracer(*o), {self.patterns[0]})
                  for name, options in joins]
        chosen = os.environ.get("CASES", "").split()
        return [case for case in found if not chosen or case.name in chosen]


def main(_):
    # tracer and job end with a run that is cut off
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: cut off"))
    node = Node(int(os.environ.get("ROUNDS", "5")))
    node.run()
    return node.result
