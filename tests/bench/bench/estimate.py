# SPDX-License-Identifier: BSD-3-Clause
"""
Part "estimate": the time in BPF programs, as a capture estimates it from samples, against the same as the
kernel measures it throughout (../runtime.c), pair by pair.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import machine, stats
from .job import private_libraries

GATE = machine.TOP / "tests/bench/gate"
LIBRARIES = machine.OUT / "lib"
JOB = [*machine.MPIRUN, machine.BUILD / "tests/progs/openmpi/cg", "100", "3"]
WAYS = {"default": [], "count": ["--count"]}


def traced(options, folder):
    """What the capture says of its programs, and the ns that the kernel measured in them."""
    for name in ("says", "told"):
        os.mkfifo(folder / name)
    tracer = subprocess.Popen(
        [machine.UCXBPF, "run", "-q", "-L", LIBRARIES, "-o", folder / "job.ucxb", *options, "--", GATE,
         folder, *JOB],
        env=dict(os.environ, **machine.MPI_ENVIRONMENT, LD_LIBRARY_PATH=str(LIBRARIES),
                 OMPI_MCA_mca_base_component_path=str(LIBRARIES / "mca")),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    pid = (folder / "says").read_text().strip()
    witness = subprocess.Popen([machine.TOOLS / "runtime", pid], text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    witness.stdout.readline()
    (folder / "told").write_text("begin\n")
    (folder / "says").read_text()
    ns = int(witness.communicate("\n")[0].split()[0])
    (folder / "told").write_text("leave\n")
    if tracer.wait():
        raise RuntimeError(f"the traced job ended with status {tracer.returncode}")
    report = subprocess.run([machine.UCXBPF, "replay", "--json", folder / "job.ucxb"],
                            capture_output=True, text=True, check=True)
    return json.loads(report.stdout)["self"]["kernel"], ns


def row(options, rounds, way):
    pairs, sampled = [], []
    for number in range(rounds):
        folder = Path(tempfile.mkdtemp(prefix="ucxbpf-bench-"))
        kernel, ns = traced(options, folder)
        shutil.rmtree(folder)
        pairs.append((kernel["time_ns"], ns))
        sampled.append(kernel["sampled_hits"] / kernel["hits"])
        print(f"  estimate: {way}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    ratios = [a / b for a, b in pairs]
    return {"way": way, "runs": rounds, "sampled": stats.median(sampled),
            "kernel ms": stats.median([ns / 1e6 for _, ns in pairs]),
            "ratio": stats.quartiles(ratios), "least": min(ratios), "most": max(ratios)}


def main(rounds):
    private_libraries(LIBRARIES)
    return {"load": os.getloadavg()[0],
            "rows": [row(options, rounds, way) for way, options in WAYS.items()]}
