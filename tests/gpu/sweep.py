# SPDX-License-Identifier: BSD-3-Clause
"""
Sweeps of this one machine (`ucxbpf sweep run`), between all its GPUs and the host's memory: sound,
and with a fault that UCX is told to have. Each verdict names exactly what is wrong.
"""
import json
import os
import socket
import subprocess
from collections import namedtuple

import job
from cases import TLS

# name    of the sweep
# set     variables that make the fault
# status  of `sweep run`
# wrong   rules that fail, all of them on this node
Sweep = namedtuple("Sweep", "name set status wrong")

SWEEPS = [
    Sweep("sound", {"UCX_TLS": TLS["ipc"]}, 0, []),
    Sweep("no-cuda-ipc", {"UCX_TLS": TLS["staged"]}, 2, ["PATH-04"]),
    Sweep("one-gpu-for-all", {"UCX_TLS": TLS["ipc"], "CUDA_VISIBLE_DEVICES": "0"}, 2, ["COV-03"]),
    Sweep("misspelt", {"UCX_TLS": TLS["ipc"], "UCX_RNDV_TRESH": "64k"}, 1, ["CFG-01"]),
]

# There is no GDRCopy in the bundle.
POLICY = """spec: ucxbpf-policy-v1
site: gpu-check
classes: {{ gpu: {{ nodes: "{node}", gpus: {gpus} }} }}
rules: {{ PATH-06: {{ severity: off }} }}
"""

RSH = """#!/bin/sh
# every host is this one
shift
exec sh -c "$*"
"""


def environment(place, sweep, version):
    libraries = [str(place.bundle / "ucx" / version / "lib"), str(place.bundle / "lib"),
                 *place.drivers]
    libraries += [path for path in [os.environ.get("LD_LIBRARY_PATH")] if path]
    made = dict(os.environ, **job.MPI_ENVIRONMENT, **sweep.set)
    return dict(made, LD_LIBRARY_PATH=":".join(libraries))


def run(place, sweep, version, limit):
    """Returns what is not as it should be; None: all is."""
    folder = place.results / f"sweep-{sweep.name}-{version}"
    policy, rsh = place.results / "site.yaml", place.results / "rsh"
    policy.write_text(POLICY.format(node=socket.gethostname(), gpus=place.gpus))
    rsh.write_text(RSH)
    rsh.chmod(0o755)
    ended = subprocess.run(
        [place.ucxbpf, "sweep", "run", "-q", "-P", policy, "--launcher", "hosts", "--rsh", rsh,
         "--mpirun", place.mpirun, "--max-size", "4M", "--max-count", "20", "-o", folder],
        env=environment(place, sweep, version), capture_output=True, text=True, timeout=limit)
    place.results.joinpath(f"{folder.name}.log").write_text(ended.stdout + ended.stderr)
    try:
        findings = json.loads(folder.joinpath("report.json").read_text())["findings"]
    except OSError:
        return f"no report: {ended.stderr.strip()[-300:]}"
    wrong = sorted({one["rule"] for one in findings if one["verdict"] == "fail"})
    if wrong != sorted(sweep.wrong) or ended.returncode != sweep.status:
        return f"status {ended.returncode}, wrong: {', '.join(wrong) or 'nothing'}"
    return None
