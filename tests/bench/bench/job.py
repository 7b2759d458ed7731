# SPDX-License-Identifier: BSD-3-Clause
"""The ping-pong job (../job/pingpong.c): started once, asked many times."""
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from . import machine

SIZES = [8, 4096, 65536, 1 << 20]
# a rendezvous keeps the probes of short transfers in place for a while: the largest size is last
PATTERNS = [(name, size) for size in SIZES for name in ("lat", "bw")]


def needed(binary, names):
    """Name -> path of those libraries that a binary is linked to."""
    listing = subprocess.run(["ldd", binary], capture_output=True, text=True).stdout
    found = {}
    for line in listing.splitlines():
        name, _, path = line.strip().partition(" => ")
        if name.startswith(names):
            found[name] = os.path.realpath(path.split(" (")[0])
    return found


def private_libraries(where):
    """
    Fills a folder for LD_LIBRARY_PATH with copies of the MPI and UCX libraries: files of their own, so
    that probes which others have on this machine's libraries cost nothing here.
    """
    if where.exists():
        return
    where.mkdir(parents=True)
    ucx = ("libucp.so.", "libuct.so.", "libucs.so.", "libucm.so.")
    paths = needed(machine.TOOLS / "job/pingpong", ("libmpi.so.", *ucx))
    mpi = next(path for name, path in paths.items() if name.startswith("libmpi.so."))
    plugin = next(Path(mpi).parent.glob("**/mca_pml_ucx.so"), None)
    if plugin:
        paths.update(needed(plugin, ucx))
        shutil.copytree(plugin.parent, where / "mca")
    for name, path in paths.items():
        shutil.copy(path, where / name)
        modules = Path(path).parent / "ucx"
        if name.startswith("libuct.so.") and modules.is_dir():
            shutil.copytree(modules, where / "ucx", symlinks=True)


class Asked:
    """Idle ranks; run() has them exchange messages."""

    def __init__(self, ranks):
        self.ranks = range(ranks)
        self.folder = Path(tempfile.mkdtemp(prefix="ucxbpf-bench-"))
        for name in (*(f"in.{rank}" for rank in self.ranks), "out"):
            os.mkfifo(self.folder / name)

    def begin(self, command, env):
        self.log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        # opened for both directions: neither side waits for the other
        self.pipes = [os.open(self.folder / f"in.{rank}", os.O_RDWR) for rank in self.ranks]
        self.out = os.open(self.folder / "out", os.O_RDWR)
        self.pending = b""
        self.pids = [int(word) for word in self.line(60).split()[1:]]

    def line(self, seconds):
        end = time.monotonic() + seconds
        while b"\n" not in self.pending:
            if not self.alive() or time.monotonic() > end:
                self.log.seek(0)
                raise RuntimeError("the ping-pong job does not answer: "
                                   + self.log.read().strip()[-500:])
            if select.select([self.out], [], [], 0.5)[0]:
                self.pending += os.read(self.out, 1 << 16)
        line, _, self.pending = self.pending.partition(b"\n")
        return line.decode()

    def alive(self):
        return self.process.poll() is None

    def run(self, pattern, milliseconds, batches):
        """Returns how many messages were exchanged in all, and the ns per message of each batch."""
        for pipe in self.pipes:
            os.write(pipe, f"{pattern[0]} {pattern[1]} {milliseconds} {batches}\n".encode())
        words = self.line(60).split()
        return int(words[0]), [float(word) for word in words[1:]]

    def close(self, patience=20):
        for pipe in self.pipes:
            os.write(pipe, b"quit\n")
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for descriptor in (*self.pipes, self.out):
            os.close(descriptor)
        self.log.close()
        shutil.rmtree(self.folder)


class Job(Asked):
    """The ping-pong of two ranks."""

    def __init__(self, preload=None, prefix=()):
        super().__init__(2)
        env = dict(os.environ, **machine.MPI_ENVIRONMENT)
        libraries = machine.OUT / "lib"
        private_libraries(libraries)
        env["LD_LIBRARY_PATH"] = str(libraries)
        if (libraries / "mca").exists():
            env["OMPI_MCA_mca_base_component_path"] = str(libraries / "mca")
        command = list(machine.MPIRUN)
        if preload:
            command += ["-x", f"LD_PRELOAD={preload}"]
        command += [word.replace("FOLDER", str(self.folder)) for word in prefix]
        command += [machine.TOOLS / "job/pingpong", self.folder]
        self.begin(command, env)
