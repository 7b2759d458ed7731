# SPDX-License-Identifier: BSD-3-Clause
"""The cases that are compared around one job, and what each is compared with."""
import shutil
from collections import namedtuple
from pathlib import Path

from . import job, machine, sites, tracers

# floor: name of the case with empty probes at the same sites; every: in which rounds it runs
# settle: seconds of messages before it is measured
Case = namedtuple("Case", "name title make floor every settle", defaults=[0])

# Variants of ucxbpf, by the options they need.
VARIANTS = [
    ("mpi", "level mpi --no-call-ends", ["--level", "mpi", "--no-call-ends"]),
    ("ucp", "level ucp --exact", ["--level", "ucp", "--exact"]),
    ("uct", "--exact", ["--level", "uct", "--exact"]),
    ("count", "--count --exact", ["--count", "--exact"]),
    ("call-ends", "--call-ends", ["--call-ends"]),
    ("stacks", "--stacks", ["--stacks"]),
]
# Those that take probes away, once what they prove is derived: beside the sites of which variant.
DERIVING = [
    ("ucp-default", "level ucp", ["--level", "ucp"], "ucp"),
    ("default", "default", ["--level", "uct"], "uct"),
    ("count-default", "--count", ["--count"], "count"),
]
SETTLE = 1.5

# What a job is started with: that job sleeps while others are measured.
NSYS = ["profile", "--trace=mpi,ucx", "--sample=none", "--cpuctxsw=none", "--mpi-impl=openmpi",
        "--output=FOLDER/nsys.%p"]


def find_nsys():
    """On the path, or where Nsight Compute brings it along."""
    places = sorted(Path("/opt/nvidia/nsight-compute").glob("*/host/target-linux-x64/nsys"))
    return shutil.which("nsys") or (str(places[-1]) if places else None)


def companions(skipped):
    """Case and arguments of job.Job for each of them."""
    found = [(Case("control", "another untraced job", None, None, 1), {}),
             (Case("shim", "LD_PRELOAD shim with backtrace()", None, None, 1),
              {"preload": machine.TOOLS / "job/shim.so"})]
    nsys = find_nsys()
    if nsys:
        found.append((Case("nsys", "nsys profile --trace=mpi,ucx", None, None, 1),
                      {"prefix": [nsys, *NSYS]}))
    else:
        skipped["nsys"] = "no nsys (NVIDIA Nsight Systems)"
    return found


# Detaching takes these 0.1 s a probe: fewer rounds.
SLOW = 2


def learn_sites(ping, options, patterns=job.PATTERNS):
    """What a variant has in place once it has seen every pattern, learnt sites among it."""
    tracer = tracers.Ucxbpf(*options)
    tracer.start(ping.pids)
    for pattern in patterns:
        ping.run(pattern, 2, 1)
    found = tracer.sites()
    tracer.stop()
    return found


def count_hits(ping, where, patterns=job.PATTERNS):
    """(sites that the job hits, pattern -> hits per message)"""
    counter = tracers.Floor(where, "count")
    counter.start(ping.pids)
    last, hits, hot = counter.counts(), {}, set()
    for pattern in patterns:
        messages, _ = ping.run(pattern, 3, 2)
        now = counter.counts()
        hits["%s %d" % pattern] = round((sum(now) - sum(last)) / messages, 2)
        hot |= {site for site, a, b in zip(where, last, now) if b > a + 2}
        last = now
    counter.stop()
    return sorted(hot, key=lambda site: (site.path, site.offset)), hits


def variants():
    known, skipped = [], {}
    for name, title, options in VARIANTS:
        unknown = [word for word in options if word.startswith("--")
                   and not machine.knows_option(word)]
        if unknown:
            skipped[name] = f"this ucxbpf has no {unknown[0]}"
        else:
            known.append((name, f"ucxbpf {title}", options))
    return known, skipped


def plan(ping):
    """Returns (cases, name -> why it is left out, facts about the sites)."""
    cases, (known, skipped), facts, lists = [], variants(), {}, {}
    for name, title, options in known:
        where = learn_sites(ping, options)
        hot, hits = count_hits(ping, where)
        same = next((other for other, sites_of in lists.items() if sites_of == where), name)
        lists[name] = where
        facts[name] = {"sites": len(where), "spans": sum(s.kind == "span" for s in where),
                       "hit": len(hot), "hits per message": hits, "floor": f"floor {same}"}
        cases.append(Case(name, title, lambda o=options: tracers.Ucxbpf(*o), f"floor {same}", 1))
        if same == name:
            cases.append(Case(f"floor {name}", f"empty probes, sites of {title}",
                              lambda w=where: tracers.Floor(w), None, 1))
        if name == "uct":
            cases.append(Case("least", f"the least that records, sites of {title}",
                              lambda w=where: tracers.Floor(w, "least"), f"floor {same}", 1))
            cases += peers(hot, skipped)
    cases += [Case(name, f"ucxbpf {title}", lambda o=options: tracers.Ucxbpf(*o), facts[like]["floor"], 1,
                   SETTLE) for name, title, options, like in DERIVING]
    fixed = sites.fixed(lists["uct"])
    facts["fixed"] = {"sites": len(fixed), "spans": len(fixed),
                      "hits per message": count_hits(ping, fixed)[1]}
    cases.append(Case("fixed", "empty entry+return probes, the fixed 30 sites",
                      lambda: tracers.Floor(fixed), None, 1))
    return cases, skipped, facts


def peers(hot, skipped):
    """Other tracers at the sites of --exact that the job hits."""
    found = []
    for name, title, sort in (("bpftrace", "bpftrace, count()", tracers.Bpftrace),
                              ("perf", "perf record", tracers.Perf)):
        if sort.missing:
            skipped[name] = sort.missing
            continue
        found.append(Case(name, title, lambda s=sort: s(hot), "floor uct", SLOW))
    return found
