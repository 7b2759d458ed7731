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
PATTERNS = [(name, size) for name in ("lat", "bw") for size in SIZES]


def private_libraries(folder):
    """
    Copies of the MPI and UCX libraries: files of their own, so that probes which others have on this
    machine's libraries cost nothing here. Returns the folder for LD_LIBRARY_PATH.
    """
    where = Path(folder) / "lib"
    if where.exists():
        return where
    listing = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
    paths = {}
    for line in listing.splitlines():
        name, arrow, path = line.partition(" => ")
        name = name.split(" ")[0].strip()
        if arrow and name.startswith(("libmpi.so.", "libucp.so.", "libuct.so.", "libucs.so.",
                                      "libucm.so.")):
            paths.setdefault(name, os.path.realpath(path))
    where.mkdir(parents=True)
    for plugin in Path(os.path.dirname(paths["libmpi.so.40"])).glob("openmpi/**/mca_pml_ucx.so"):
        shutil.copytree(plugin.parent, where / "mca")
    for name, path in paths.items():
        shutil.copy(path, where / name)
        modules = Path(path).parent / "ucx"
        if name.startswith("libuct.so.") and modules.is_dir():
            shutil.copytree(modules, where / "ucx", symlinks=True)
    return where


class Job:
    """Two idle ranks; run() has them exchange messages."""

    def __init__(self, preload=None, prefix=()):
        self.folder = Path(tempfile.mkdtemp(prefix="ucxbpf-bench-"))
        for name in ("in.0", "in.1", "out"):
            os.mkfifo(self.folder / name)
        env = dict(os.environ, **machine.MPI_ENVIRONMENT)
        libraries = private_libraries(machine.OUT)
        env["LD_LIBRARY_PATH"] = str(libraries)
        env["OMPI_MCA_mca_base_component_path"] = str(libraries / "mca")
        command = list(machine.MPIRUN)
        if preload:
            command += ["-x", f"LD_PRELOAD={preload}"]
        command += [*prefix, machine.TOOLS / "job/pingpong", self.folder]
        self.log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        # opened for both directions: neither side waits for the other
        self.pipes = [os.open(self.folder / f"in.{rank}", os.O_RDWR) for rank in (0, 1)]
        self.out = os.open(self.folder / "out", os.O_RDWR)
        self.pending = b""
        self.pids = [int(word) for word in self.line(60).split()[1:]]

    def line(self, seconds):
        end = time.monotonic() + seconds
        while b"\n" not in self.pending:
            if self.process.poll() is not None or time.monotonic() > end:
                self.log.seek(0)
                raise RuntimeError("the ping-pong job does not answer: "
                                   + self.log.read().strip()[-500:])
            if select.select([self.out], [], [], 0.5)[0]:
                self.pending += os.read(self.out, 1 << 16)
        line, _, self.pending = self.pending.partition(b"\n")
        return line.decode()

    def run(self, pattern, milliseconds, batches):
        """Returns how many messages were exchanged in all, and the ns per message of each batch."""
        for pipe in self.pipes:
            os.write(pipe, f"{pattern[0]} {pattern[1]} {milliseconds} {batches}\n".encode())
        words = self.line(60).split()
        return int(words[0]), [float(word) for word in words[1:]]

    def close(self):
        for pipe in self.pipes:
            os.write(pipe, b"quit\n")
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for descriptor in (*self.pipes, self.out):
            os.close(descriptor)
        self.log.close()
        shutil.rmtree(self.folder)
