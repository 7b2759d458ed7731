# SPDX-License-Identifier: BSD-3-Clause
"""
Part "overhead": what a tracer adds to a message. Tracers come and go around one running job, in
random order, an untraced visit between any two, so that each is measured against what the job did a
second before and after it.
"""
import os
import random
import sys
import time

from . import cases as case_list
from . import job, machine, stats, tracers

MILLISECONDS, BATCHES = 3, 7
DISTURBED = 1.15  # untraced visits before and after that differ more: something else happened


def labels(patterns):
    return ["%s %d" % pattern for pattern in patterns]


LABELS = labels(job.PATTERNS)


def timed(what):
    """Seconds that it takes."""
    start = time.monotonic()
    what()
    return time.monotonic() - start


# What is compared with what, beside each case with its floor.
PAIRS = [(("default", "uct"), ("bpftrace", "fixed", "perf", "nsys")), (("ucp-default", "ucp"), ("shim",)),
         (("count-default", "count"), ("fixed",)), (("default",), ("uct",))]


class Overhead:
    patterns = job.PATTERNS
    rounds_per_job = 5  # then new ones: no job's luck with its memory decides

    def __init__(self, rounds):
        self.rounds = rounds
        self.labels = labels(self.patterns)
        self.end = time.monotonic() + 60 * float(os.environ.get("MINUTES", "inf"))
        self.untraced = []  # one visit after the other
        self.visits = []  # (round, case name, index of the untraced visit before it, values)
        self.extra = {}  # case name -> list of facts of its visits
        self.failed = {}
        self.cases = None

    def visit(self, ping):
        """Label -> [median, least] ns per message."""
        values = {}
        for label, pattern in zip(self.labels, self.patterns):
            _, batches = ping.run(pattern, MILLISECONDS, BATCHES)
            values[label] = [stats.median(batches), min(batches)]
        return values

    def run(self):
        done = 0
        while done < self.rounds and time.monotonic() < self.end:
            self.open_jobs()
            for _ in range(min(self.rounds_per_job, self.rounds - done)):
                if time.monotonic() > self.end:
                    break
                self.round(done)
                done += 1
                print(f"  overhead: round {done} of {self.rounds}", file=sys.stderr, flush=True)
            for one in (self.ping, *filter(None, self.jobs.values())):
                one.close()
        self.rounds = done

    def open_jobs(self):
        self.ping = job.Job()
        if self.cases is None:
            self.cases, self.skipped, self.sites = case_list.plan(self.ping)
            self.companions = case_list.companions(self.skipped)
            self.cases += [case for case, _ in self.companions]
        self.jobs = {case.name: self.start(case, how) for case, how in self.companions
                     if case.name not in self.failed}

    def start(self, case, how):
        try:
            return job.Job(**how)
        except RuntimeError as error:
            self.failed[case.name] = str(error)
            return None

    def round(self, number):
        due = [case for case in self.cases
               if number % case.every == 0 and case.name not in self.failed]
        random.shuffle(due)
        for case in due:
            self.untraced.append(self.visit(self.ping))
            try:
                self.visits.append((number, case.name, len(self.untraced) - 1, self.traced(case)))
            except RuntimeError as error:
                if not self.ping.alive():
                    raise
                self.failed[case.name] = str(error)
        self.untraced.append(self.visit(self.ping))

    def traced(self, case):
        if not case.make:
            return self.visit(self.jobs[case.name])
        tracer = case.make()
        facts = {"start s": timed(lambda: tracer.start(self.ping.pids))}
        try:
            self.settle(case.settle)
            if case.settle:
                facts["probes"] = len(tracer.sites())
            values = self.visit(self.ping)
        finally:
            facts["stop s"] = timed(tracer.stop)
        if isinstance(tracer, tracers.Ucxbpf):
            facts["memory MiB"] = tracer.memory
            facts["loss"] = tracer.loss()
        self.extra.setdefault(case.name, []).append(facts)
        return values

    def settle(self, seconds):
        """Short messages, of each pattern in turn."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for pattern in self.patterns[:2]:
                self.ping.run(pattern, MILLISECONDS, BATCHES)

    def added(self, name, label, which):
        """Round -> (ns added, times the untraced); disturbed visits are left out."""
        found = {}
        for number, case, before, values in self.visits:
            around = [self.untraced[i][label][which] for i in (before, before + 1)]
            if case == name and max(around) <= DISTURBED * min(around):
                base = sum(around) / 2
                found[number] = (values[label][which] - base, values[label][which] / base)
        return found

    def row(self, case, label):
        mine = self.added(case.name, label, 0)
        row = {"added": stats.quartiles([a for a, _ in mine.values()]),
               "times": stats.median([t for _, t in mine.values()]),
               "visits": len(mine),
               "added by least": stats.median(
                   [a for a, _ in self.added(case.name, label, 1).values()])}
        if case.floor:
            floor = self.added(case.floor, label, 0)
            row["to floor"] = stats.ratios([(mine[n][0], floor[n][0]) for n in mine if n in floor])
        return row

    def facts(self, name):
        seen = self.extra.get(name, [])
        facts = {key: stats.median([fact[key] for fact in seen]) for key in ("start s", "stop s")}
        loss = [fact["loss"] for fact in seen if fact.get("loss")]
        if loss:
            facts["records"] = sum(one["stored"] for one in loss)
            facts["dropped"] = sum(sum(one["dropped"].values()) for one in loss)
        if any("probes" in fact for fact in seen):
            facts["probes"] = stats.median([fact["probes"] for fact in seen])
        if any("memory MiB" in fact for fact in seen):
            facts["memory MiB"] = max(fact["memory MiB"] for fact in seen)
        return facts

    def ratio(self, name, to, label):
        """Added by one case over added by another of the same round: quartiles."""
        mine, other = self.added(name, label, 0), self.added(to, label, 0)
        return stats.ratios([(mine[n][0], other[n][0]) for n in mine if n in other])

    def result(self):
        names = {case.name for case in self.cases}
        compared = [(ours, theirs) for pair in PAIRS for ours in pair[0] for theirs in pair[1]
                    if {ours, theirs} <= names]
        return {
            "machine": machine.facts(), "rounds": self.rounds, "labels": self.labels, "sites": self.sites,
            "skipped": {**self.skipped, **self.failed},
            "untraced": {label: stats.quartiles([visit[label][0] for visit in self.untraced])
                         for label in self.labels},
            "cases": {case.name: {
                "title": case.title, "floor": case.floor, **self.facts(case.name),
                "patterns": {label: self.row(case, label) for label in self.labels},
            } for case in self.cases if case.name not in self.failed},
            "ratios": {f"{a} to {b}": {label: self.ratio(a, b, label) for label in self.labels}
                       for a, b in compared},
        }


def main(rounds):
    overhead = Overhead(rounds)
    overhead.run()
    return overhead.result()
