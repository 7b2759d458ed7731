# SPDX-License-Identifier: BSD-3-Clause
"""
What tracing adds to a round of a ring of GPU buffers (gpu_ring.c): tracers come and go around one
running job, an untraced visit between any two (tests/bench/bench/overhead.py).
"""
import json
import os
import time

from bench import cases, job, machine, overhead, report, tracers

from cases import TLS

SIZES = [8, 4096, 65536, 1 << 20, 8 << 20]
VARIANTS = ("mpi", "ucp", "uct", "count")
DERIVING = ("default", "count-default")  # beside the sites of the variant that keeps its probes
UCX = "1.18.1", "1.13.1"  # the first one that the bundle has


class RingJob(job.Asked):
    def __init__(self, place, ranks):
        super().__init__(ranks)
        ucx = [place.bundle / "ucx" / version / "lib" for version in UCX]
        libraries = [str(path) for path in ucx if path.is_dir()][:1] + [str(place.bundle / "lib")]
        if place.standin:
            libraries = [str(place.standin)]
        libraries += [path for path in [os.environ.get("LD_LIBRARY_PATH")] if path] + place.drivers
        environment = dict(os.environ, **machine.MPI_ENVIRONMENT, LD_LIBRARY_PATH=":".join(libraries))
        environment["UCX_TLS"] = TLS["host" if place.standin else "ipc"]
        devices = ",".join(str(i % max(1, place.gpus)) for i in range(ranks))
        binding = [] if place.standin else ["--bind-to", "core", "--map-by", "core"]
        self.begin([place.mpirun, *binding, "-n", str(ranks),
                    place.bundle / "progs/dynamic/gpu_ring", devices, self.folder], environment)


class Ring(overhead.Overhead):
    patterns = [("ring", size) for size in SIZES]
    rounds_per_job = 10

    def __init__(self, place, seconds):
        super().__init__(1000)
        self.end = time.monotonic() + seconds
        self.place, self.ranks = place, 2
        self.skipped, self.sites, self.companions, self.jobs = {}, {}, [], {}

    def open_jobs(self):
        self.ping = RingJob(self.place, self.ranks)
        if self.cases is None:
            self.cases = [case for variant in cases.VARIANTS if variant[0] in VARIANTS
                          for case in self.beside_empty(*variant)]
            self.cases += [cases.Case(name, f"ucxbpf {title}", lambda o=options: tracers.Ucxbpf(*o),
                                      f"floor {like}", 1, cases.SETTLE)
                           for name, title, options, like in cases.DERIVING if name in DERIVING]

    def beside_empty(self, name, title, options):
        """The variant, and empty probes at its sites: what no tracer with them can be below."""
        where = cases.learn_sites(self.ping, options, self.patterns)
        self.sites[name] = {"sites": len(where), "floor": f"floor {name}",
                            "hits per message": cases.count_hits(self.ping, where, self.patterns)[1]}
        return [cases.Case(name, f"ucxbpf {title}", lambda: tracers.Ucxbpf(*options),
                           f"floor {name}", 1),
                cases.Case(f"floor {name}", f"empty probes, sites of {title}",
                           lambda: tracers.Floor(where), None, 1)]

    def traced(self, case):
        """Keeps the capture of --exact, which has all transfers of a round."""
        values = super().traced(case)
        if case.name == "uct":
            machine.OUT.joinpath("visit.ucxb").replace(machine.OUT / "ring.ucxb")
        return values


def measure(place, seconds):
    """Writes RESULTS/gpu_ring.json; returns it as text."""
    machine.UCXBPF, machine.OUT = place.ucxbpf, place.results
    machine.TOOLS = place.bundle / "tests/bench"
    ring = Ring(place, seconds)
    ring.run()
    result = ring.result()
    result["machine"].update(ucx=f"{UCX[0]} with CUDA", gpus=f"{ring.ranks} of {place.gpus}")
    (place.results / "gpu_ring.json").write_text(json.dumps(result, indent=1) + "\n")
    (place.results / "visit.ucxb").unlink(missing_ok=True)
    return report.gpu_ring(result)
