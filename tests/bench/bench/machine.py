# SPDX-License-Identifier: BSD-3-Clause
"""Where things are, what this machine is, and which other tools it has."""
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
BUILD = TOP / os.environ.get("BUILD", "build")
OUT = BUILD / "bench"
TOOLS = Path(os.environ.get("BENCH_TOOLS", BUILD / "tests/bench"))
UCXBPF = Path(os.environ.get("UCXBPF", BUILD / "ucxbpf"))

MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any", "OMPI_MCA_osc": "ucx",
    "OMPI_MCA_orte_tmpdir_base": "/tmp", "UCX_TLS": "posix,self,cma", "UCX_LOG_LEVEL": "error",
}
MPIRUN = [shutil.which("mpirun.openmpi") or "mpirun", "--bind-to", "core", "--map-by", "core",
          "-n", "2"]


def first_line(*command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return run.stdout.splitlines()[0].strip()
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return None


def cpu_model():
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def cores():
    """Physical cores that this process may run on; fewer than CPUs where a core has two threads."""
    found = set()
    for cpu in os.sched_getaffinity(0):
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        found.add(tuple((topology / name).read_text() for name in ("physical_package_id", "core_id")))
    return len(found)


def ucx_version():
    for line in (first_line("ucx_info", "-v") or "").splitlines():
        return line.replace("# Library version:", "").replace("# ", "").strip()
    return None


def facts(part=None):
    """part: that has just been measured; what measured the others is kept from the last facts."""
    version = first_line(UCXBPF, "--version")
    try:
        parts = json.loads((OUT / "machine.json").read_text())["parts"]
    except (OSError, ValueError, KeyError):
        parts = {}
    if part:
        parts[part] = version
    return {
        "parts": parts,
        "cpu": cpu_model(), "cpus": os.cpu_count(), "kernel": platform.release(),
        "machine": platform.machine(), "mpi": first_line(MPIRUN[0], "--version"),
        "ucx": ucx_version(), "ucxbpf": version,
        "bpftrace": first_line("bpftrace", "--version"), "perf": first_line("perf", "--version"),
    }


def knows_option(option):
    run = subprocess.run([UCXBPF, "attach", "--help"], capture_output=True, text=True)
    return option in run.stdout


def why_not():
    """Why nothing can be measured here, None if it can."""
    if os.geteuid():
        return "needs root, to place probes"
    if len(os.sched_getaffinity(0)) < 2:
        return "needs two cores, one for each rank"
    if first_line("ls", "/sys/kernel/btf/vmlinux") is None:
        return "this kernel has no BTF"
    return None


def weigh(nice):
    """
    With autogroups the scheduler shares out time by session. At -20 the benchmark's own goes before what
    else runs here, tracer and job alike.
    """
    if os.getsid(0) != os.getpid():
        try:
            os.setsid()
        except PermissionError:
            pass
    try:
        Path("/proc/self/autogroup").write_text(str(nice))
    except OSError:
        pass
