# SPDX-License-Identifier: BSD-3-Clause
"""What the rows of `make trust` share: where things are, trials that are kept, jobs, and what a tracer holds.

A row prints its figures as lines "key: text" on stdout (figures; open, where a part of what is asked was not run),
its progress on stderr, and ends with 0 where it holds, 77 where it cannot be tried here."""
import atexit
import ctypes
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
BUILD = TOP / os.environ.get("O", "build")
UCXBPF = Path(os.environ.get("UCXBPF", BUILD / "ucxbpf"))
DATA = TOP / "tests/data"
KEPT = Path(os.environ.get("KEPT", BUILD / "trust"))
PROGRAMS = BUILD / "tests/progs"

# An attach has a budget by default, under which it may leave out layers: rows count what they did.
os.environ.setdefault("UCXBPF_BUDGET", "none")

# bpf(2): the commands that open an object by its number
OPEN_BY_ID = {"link_id": 30, "prog_id": 13, "map_id": 14}
SYS_BPF = 321

# docs/exit-codes.md
STATUS_LOST = 4


def asked(whole):
    """How many trials this run is to come to: N, or all that the list asks for."""
    return int(os.environ.get("N", whole))


def program_digest():
    return hashlib.sha256(UCXBPF.read_bytes()).hexdigest()[:12]


def revision():
    """The last commit that changed the program; COMMIT where there is no repository."""
    if "COMMIT" in os.environ:
        return os.environ["COMMIT"]
    ask = ["git", "log", "-1", "--format=%h", "--", "bpf", "user"]
    return subprocess.run(ask, cwd=TOP, capture_output=True, text=True).stdout.strip()


def say(text):
    print(text, file=sys.stderr, flush=True)


def cannot(why):
    print(f"open: {why}")
    sys.exit(77)


class Trials:
    """Results of trials of this program, kept as they are made: a row that is stopped goes on where it was. With a name, of
    any program: their keys then contain all that they depend on."""

    def __init__(self, row, whole, name=None):
        KEPT.mkdir(parents=True, exist_ok=True)
        self.path = KEPT / f"{row}.{name or program_digest()}.trials"
        self.row, self.whole, self.wanted = row, whole, asked(whole)
        self.results = []
        self.commit = self.path.with_suffix(".commit")
        if not self.commit.exists():
            self.commit.write_text(revision() + "\n")
        if self.path.exists():
            self.results = [json.loads(line) for line in self.path.read_text().splitlines()]
        self.keys = {json.dumps(result["key"]) for result in self.results if "key" in result}

    def add(self, **result):
        self.results.append(result)
        if "key" in result:
            self.keys.add(json.dumps(result["key"]))
        with self.path.open("a") as file:
            file.write(json.dumps(result) + "\n")

    def has(self, key):
        return json.dumps(key) in self.keys

    def __len__(self):
        return len(self.results)

    def left(self):
        return max(0, self.wanted - len(self.results))

    def bad(self):
        return [result for result in self.results if result.get("bad")]

    def end(self, figures, left_open="-"):
        """Says the figures; open where fewer were run than the list asks for."""
        bad = self.bad()
        for result in bad[:20]:
            say(f"  {self.row}: {result}")
        if len(self.results) < self.whole:
            rest = f"{self.whole:,} trials"
            left_open = rest if left_open == "-" else f"{rest}; {left_open}"
        print(f"commit: {self.commit.read_text().strip()}")
        print(f"figures: {figures}")
        print(f"open: {left_open}")
        sys.exit(1 if bad else 0)


def share(results, key):
    """'a 3, b 1' of a member of results."""
    counts = {}
    for result in results:
        counts[result.get(key)] = counts.get(result.get(key), 0) + 1
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))


def workspace():
    """A folder that goes with the process, also where that is told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="ucxbpf-trust-"))

    def away():
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(away)
    return folder


def run(command, timeout=240, **options):
    """subprocess.run, as bytes; a status of None says that it had to be killed."""
    try:
        return subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=timeout, **options)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, None, late.stdout or b"", late.stderr or b"")


def last_line(text):
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def job_command(mpi, program, *arguments, ranks=2, truth="", extra=()):
    """As job_command of tests/lib/job.sh says, over shared memory."""
    script = '. tests/lib/job.sh; mpi=$1 ranks=$2; shift 2; job_command "$mpi" "$ranks" shm n "$@"; printf "%s\\0" "${JOB[@]}"'
    env = dict(os.environ, TOP=str(TOP), BUILD=str(BUILD), TRUTH=str(truth), JOB_EXTRA=" ".join(extra))
    out = subprocess.run(["bash", "-c", script, "job", mpi, str(ranks), str(program), *map(str, arguments)], cwd=TOP,
                         env=env, capture_output=True, check=True, text=True).stdout
    return out.split("\0")[:-1]


def own_libraries(folder):
    """Copies of UCX and Open MPI, and the environment that has a job use them: whatever others trace on this machine
    places no probe in them."""
    system = next(path.parent for path in Path("/usr/lib").glob("*-linux-gnu/ucx"))
    if not folder.exists():
        folder.mkdir()
        for name in ("libmpi.so.40", "libucp.so.0", "libuct.so.0", "libucs.so.0", "libucm.so.0",
                     "libmca_common_ucx.so.40"):
            shutil.copy(system / name, folder / name)
        shutil.copytree(system / "ucx", folder / "ucx", symlinks=True)
        shutil.copytree((system / "openmpi/lib").resolve() / "openmpi3", folder / "openmpi3", symlinks=True)
    return [f"LD_LIBRARY_PATH={folder}", f"UCX_MODULE_DIR={folder}/ucx",
            f"OMPI_MCA_mca_base_component_path={folder}/openmpi3"]


class PingPong:
    """A job of two ranks over libraries of its own, which bounces messages until it is told to stop, and whose result
    tells whether any byte or call of it was harmed."""

    def __init__(self, folder, mpi="openmpi", pause=200, **options):
        self.folder, self.mpi = folder, mpi
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self.stop = folder / "stop"
        self.begun = time.monotonic()
        atexit.register(self.stop.touch)
        self.out = folder / "out"
        command = self.command(pause, **options)
        with self.out.open("wb") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        wait_for(lambda: all((folder / f"{rank}.running").exists() for rank in (0, 1)) or self.process.poll() is not None,
                 "the job's first exchanges")
        self.pids = self.ranks()
        self.text = self.text_differs()

    def command(self, pause, wrap=(), **options):
        options.setdefault("extra", own_libraries(self.folder.parent / "libraries"))
        program = PROGRAMS / self.mpi / "mpi_pingpong"
        return [*wrap, *job_command(self.mpi, program, self.stop, pause, truth=self.folder, **options)]

    def ranks(self):
        return [int((self.folder / f"{rank}.pid").read_text()) for rank in (0, 1)]

    def text_differs(self):
        """What of the ranks' code is not as in its files."""
        return run([sys.executable, TOP / "tests/live/check_text.py", *self.pids]).stdout

    def finish(self):
        """Whether it ended well with the result of an untraced run of as many iterations."""
        self.stop.touch()
        atexit.unregister(self.stop.touch)
        took = time.monotonic() - self.begun
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return False
        lines = pingpong_lines(self.out.read_text(errors="replace"))
        if status or not lines:
            return False
        iterations = lines[0].split()[2]
        alone = run(job_command(self.mpi, PROGRAMS / self.mpi / "mpi_pingpong", iterations), timeout=120 + 2 * took)
        return lines == pingpong_lines(alone.stdout.decode())


def pingpong_lines(text):
    return sorted(line for line in text.splitlines() if line.startswith("pingpong"))


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"never came true: {what}")
        time.sleep(0.02)


def children(pid):
    try:
        return [int(child) for task in Path(f"/proc/{pid}/task").iterdir()
                for child in (task / "children").read_text().split()]
    except OSError:
        return []


def adopt_orphans():
    """What a command leaves behind becomes a child of this process, not of init."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def helpers_left(seconds=10):
    """Names of a tracer's helpers (keeper, readers) that do not end after it. Those that do are waited for, which counts
    their CPU time as of children. Needs adopt_orphans()."""
    end = time.monotonic() + seconds
    while True:
        left = []
        for child in children(os.getpid()):
            name = Path(f"/proc/{child}/comm").read_text().strip()
            if name.startswith("ucxbpf-") and os.waitpid(child, os.WNOHANG) == (0, 0):
                left.append(name)
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.01)


def held_by(pid):
    """The kernel's numbers of what a tracer and its keeper hold: {("link_id", 7), ...}."""
    held = set()
    for process in [pid, *children(pid)]:
        folder = Path(f"/proc/{process}")
        try:
            if not (folder / "comm").read_text().startswith("ucxbpf"):
                continue
            infos = [info.read_text() for info in (folder / "fdinfo").iterdir()]
        except OSError:
            continue
        for info in infos:
            for line in info.splitlines():
                name, _, value = line.partition(":")
                if name in OPEN_BY_ID:
                    held.add((name, int(value)))
                    break
    return held


def still_there(held):
    libc = ctypes.CDLL(None, use_errno=True)
    left = set()
    for kind, number in held:
        attribute = (ctypes.c_uint32 * 32)(number)
        fd = libc.syscall(SYS_BPF, OPEN_BY_ID[kind], attribute, 12)
        if fd >= 0:
            os.close(fd)
            left.add((kind, number))
    return left


def gone_after(held, seconds=30):
    """Seconds until nothing of it is in the kernel any more, None: never; and what was left."""
    begin = time.monotonic()
    while held and time.monotonic() - begin < seconds:
        time.sleep(0.01)
        held = still_there(held)
    return None if held else time.monotonic() - begin, sorted(held)


def seeded(row):
    """Another sequence for each part of a row that is gone on with, the same for the same part."""
    return random.Random(row + os.environ.get("PART", ""))


def staged(fault):
    """A sweep of a staged fault (tests/faults): {"ok", "said", "wrong", "seconds", ...}; None: it cannot be staged here."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results")
        run([sys.executable, TOP / "tests/faults/run", "--results", results, fault], 400, cwd=TOP)
        text = results.read_text() if results.exists() else ""
        return json.loads(text) if text else None


def faults():
    """Names of all that can be staged, and what is to be said of each."""
    listed = run([sys.executable, TOP / "tests/faults/run", "--list"]).stdout.decode().splitlines()
    return {line.split()[0]: line.split(None, 2)[2] for line in listed}
