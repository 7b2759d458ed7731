# SPDX-License-Identifier: BSD-3-Clause
"""One case of scripts/gpu-check: the job, the tracer around it, the comparison."""
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from cases import DEVICES, TLS, unseen
from compare import compare

TIMEOUT = 40  # seconds for a job that ought to take two, or ten where Python loads what AI needs

# Debian's and Ubuntu's Open MPI have UCX switched off.
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any", "OMPI_MCA_osc": "ucx",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_orte_tmpdir_base": "/tmp",
    "UCX_LOG_LEVEL": "error",
}


class Place:
    """This machine: what the bundle has, what GPUs there are."""

    def __init__(self, bundle, results, standin):
        self.bundle, self.results, self.standin = bundle, results, standin
        self.ucxbpf = bundle / "ucxbpf"
        for path in (self.ucxbpf, *bundle.glob("progs/*/*")):
            path.chmod(0o755)
        self.gpus = 2 if standin else len(list(Path("/proc/driver/nvidia/gpus").glob("*")))
        self.drivers = [str(standin)] if standin else driver_folders()
        self.mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
        # a GPU that nobody has open is set up anew for each process, which takes a second or two
        self.held = [] if standin else hold_devices()

    def libraries(self, case):
        """Folders for LD_LIBRARY_PATH, the first ones first."""
        folders = [] if case.ucx == "stock" or self.standin else [self.bundle / "ucx" / case.ucx / "lib"]
        return folders + [self.standin or self.bundle / "lib"]

    def describe(self):
        smi = first_lines("nvidia-smi", "-L") or "no nvidia-smi"
        return "\n".join([f"kernel {platform.release()}, {self.gpus} GPUs, {os.cpu_count()} CPUs",
                          first_lines(self.ucxbpf, "--version"), smi,
                          first_lines(self.mpirun or "mpirun", "--version").split("\n")[0],
                          f"driver library in {', '.join(self.drivers) or 'no folder known'}"])

    def why_not(self, case):
        if not self.mpirun:
            return "no Open MPI"
        if self.gpus < DEVICES[case.devices][1]:
            return f"needs {DEVICES[case.devices][1]} GPUs"
        if case.ucx != "stock" and not self.libraries(case)[0].is_dir():
            return f"no UCX {case.ucx} in the bundle"
        if self.standin and case.late and case.way != "host":
            return "to one who comes late, a stand-in's memory is the host's"
        if self.standin and case.runtime == "own":
            return "a CUDA runtime of its own does not take a stand-in"
        return None


def hold_devices():
    held = []
    for path in sorted(Path("/dev").glob("nvidia[0-9]*")):
        try:
            held.append(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        except OSError as error:
            print(f"{path}: {error.strerror}: cases take longer", flush=True)
    return held


def first_lines(*command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return "\n".join(run.stdout.strip().splitlines()[:8])
    except (OSError, subprocess.TimeoutExpired):
        return ""


def driver_folders():
    """Where libcuda.so.1 lies: the loader's list, and where containers put it."""
    listed = re.findall(r"libcuda\.so\.1 .*=> (.*)/libcuda\.so\.1",
                        subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout)
    usual = [str(path.parent) for path in Path("/usr/local/nvidia").glob("lib*/libcuda.so.1")]
    return list(dict.fromkeys(listed + usual))


class Run:
    """One run of a case, traced or not, in a folder of its own."""

    def __init__(self, place, case, folder):
        self.place, self.case, self.folder = place, case, folder
        shutil.rmtree(folder, ignore_errors=True)
        self.truth = folder / "truth"
        self.truth.mkdir(parents=True)
        self.capture = folder / "job.ucxb"
        self.ranks = max(2, min(4, place.gpus)) if case.devices == "ring" else 2

    def environment(self):
        case = self.case
        libraries = [str(folder) for folder in self.place.libraries(case)]
        libraries += [folder for folder in [os.environ.get("LD_LIBRARY_PATH")] if folder]
        libraries += [folder for folder in self.place.drivers
                      if not folder.startswith(("/lib", "/usr/lib"))]
        made = dict(os.environ, **MPI_ENVIRONMENT, LD_LIBRARY_PATH=":".join(libraries),
                    UCX_PROTO_ENABLE=case.proto, TRUTH=str(self.truth))
        made["UCX_TLS"] = TLS["host" if self.place.standin else case.way]
        if case.scheme:
            made["UCX_RNDV_SCHEME"] = case.scheme
        if unseen(case):
            made["UCX_MEMTYPE_CACHE"] = "n"
        if case.late:
            made["HOLD"] = "1"
        return made

    def program(self):
        case = self.case
        if case.runtime == "own":
            return [shutil.which("python3"), str(self.place.bundle / "tests/gpu" / f"{case.program}.py")]
        runtime = "dynamic" if self.place.standin else case.runtime
        return [str(self.place.bundle / "progs" / runtime / case.program)]

    def job(self):
        case = self.case
        devices, _, alone = DEVICES[case.devices]
        devices = devices or ",".join(str(i % max(1, self.place.gpus)) for i in range(self.ranks))
        program = [*self.program(), devices, *case.arguments]
        if not alone:
            return [self.place.mpirun, "-n", str(self.ranks), *program]
        line = [self.place.mpirun]
        for rank in range(self.ranks):
            line += [":"] * (rank > 0) + ["-n", "1", "-x", f"CUDA_VISIBLE_DEVICES={rank}", *program]
        return line

    def start(self, command, log):
        return subprocess.Popen(list(map(str, command)), env=self.environment(),
                                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                start_new_session=True)

    def from_start(self):
        line = [self.place.ucxbpf, "run", "-q", "-o", self.capture]
        if self.place.drivers:
            line += ["-L", ":".join(self.place.drivers)]
        with open(self.folder / "out", "w") as log:
            return finish(self.start([*line, "--", *self.job()], log))

    def attached(self):
        with open(self.folder / "out", "w") as log:
            mpirun = self.start(self.job(), log)
            tracer = None
            if self.wait_for(mpirun, self.ready):
                self.keep_maps()
                line = [self.place.ucxbpf, "attach", "-q", "--budget", "none", "-o", self.capture, "-p",
                        ",".join(self.pids())]
                tracer = self.start(line, log)
                # the file begins when the processes' records begin
                self.wait_for(tracer, lambda: self.capture.exists() and self.capture.stat().st_size)
                time.sleep(0.1)
            self.go()
            status = finish(mpirun)
            return finish_tracer(tracer) or status if tracer else status

    def alone(self):
        """Without a tracer."""
        with open(self.folder / "out", "w") as log:
            mpirun = self.start(self.job(), log)
            if self.case.late:
                self.wait_for(mpirun, self.ready)
                self.go()
            return finish(mpirun)

    def ready(self):
        return len(list(self.truth.glob("*.ready"))) == self.ranks

    def pids(self):
        return [(self.truth / f"{rank}.pid").read_text().strip() for rank in range(self.ranks)]

    def keep_maps(self):
        """What the processes have mapped, to explain what a late tracer says of it."""
        for rank, pid in enumerate(self.pids()):
            shutil.copyfile(f"/proc/{pid}/maps", self.folder / f"maps.{rank}")

    def go(self):
        (self.truth / "go").touch()

    @staticmethod
    def wait_for(process, condition):
        end = time.monotonic() + TIMEOUT
        while not condition():
            if process.poll() is not None or time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def said(self):
        """The last line that tells something."""
        lines = [line.strip() for line in (self.folder / "out").read_text(errors="replace").splitlines()
                 if re.search(r"[A-Za-z]{3}", line)]
        wrong = [line for line in lines if re.search(r"error|not so|fail|undefined", line, re.I)]
        return (wrong or lines or ["nothing"])[0][:160]


def finish(process, seconds=TIMEOUT):
    """Exit status; a process that does not end is ended, with all that it started."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return 124


def finish_tracer(tracer):
    """It ends with the last process that it traces."""
    try:
        return tracer.wait(10)
    except subprocess.TimeoutExpired:
        tracer.send_signal(signal.SIGINT)
        return finish(tracer)


def report(place, capture):
    """The report, or why there is none."""
    run = subprocess.run([place.ucxbpf, "replay", "--json", capture], capture_output=True, text=True)
    if run.returncode:
        return None, f"replay: exit status {run.returncode}: {run.stderr.strip()[:200]}"
    return json.loads(run.stdout), None


def check(place, case):
    """("ok", "FAIL" or "skip", why)"""
    why = place.why_not(case)
    if why:
        return "skip", why
    run = Run(place, case, place.results / case.name)
    status = run.attached() if case.late else run.from_start()
    if status:
        plain = Run(place, case, place.results / (case.name + ".untraced"))
        if plain.alone():
            shutil.rmtree(run.folder)
            return "skip", f"fails without the tracer as well: {plain.said()}"
        return "FAIL", f"exit status {status}, without the tracer 0: {run.said()}"
    try:
        return compared(place, case, run)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return "FAIL", f"no comparison: {error!r}"


def compared(place, case, run):
    got, why = report(place, run.capture)
    if why:
        return "FAIL", why
    # whether two processes reach GPUs that each hides from the other is the driver's business
    hidden = case.way == "ipc" and case.devices in ("setenv", "environ")
    way = None if place.standin or hidden else case.way
    # a stand-in's memory is a GPU's to the tracer and the host's to UCX
    balanced = not place.standin
    differences, text = compare(got, run.truth, case.late, way, balanced)
    (run.folder / "case.json").write_text(json.dumps(case._replace(way=way)._asdict()) + "\n")
    if not differences:
        for path in (run.folder / "out", *run.folder.glob("maps.*")):
            path.unlink()
        return "ok", text
    (run.folder / "differences").write_text("\n".join(differences) + "\n")
    return "FAIL", f"{len(differences)} differences, the first: {differences[0]}"
