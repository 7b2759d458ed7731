# SPDX-License-Identifier: BSD-3-Clause
"""Podman for R22: of root, and of an ordinary user with subordinate ids.

All of it happens in a mount namespace of its own, which has the user, a /dev/fuse for everyone, and cgroups without the second
hierarchy, which crun refuses beside the first one. What is mounted there goes with it."""
import atexit
import os
import shutil
import subprocess
from pathlib import Path

import bed

USER = "trial"
UID = 61234
IMAGE = "localhost/trial:1"

SETUP = """
mount --make-rshared /
if mountpoint -q /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi
mkdir etc
cp /etc/passwd /etc/group etc
echo "$1:x:$2:$2::$3:/bin/sh" >>etc/passwd
echo "$1:x:$2:" >>etc/group
echo "$1:2000000:65536" | tee etc/subuid >etc/subgid
mknod -m 666 etc/fuse c 10 229
for file in passwd group subuid subgid; do mount --bind etc/$file /etc/$file; done
mount --bind etc/fuse /dev/fuse
mountpoint -q /dev/mqueue || mount -t mqueue none /dev/mqueue
echo ready
exec sleep infinity
"""

class Podman:
    def __init__(self, work):
        if not shutil.which("podman"):
            bed.cannot("no podman")
        made = bed.run([bed.TOP / "tests/lib/fresh-root", "make", "bookworm", bed.BUILD / "roots"], timeout=600)
        if made.returncode:
            bed.cannot(bed.last_line(made.stdout) or "no root of Debian 12")
        self.root = bed.BUILD / "roots/bookworm"
        self.work = work
        work.mkdir()
        self.homes = {who: self.home(who) for who in ("root", USER)}
        self.queues = Path("/dev/mqueue")
        self.made_queues = not self.queues.exists()
        self.queues.mkdir(exist_ok=True)
        self.space = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "bash", "-ec", SETUP, "_", USER,
                                       str(UID), self.homes[USER]], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      text=True)
        atexit.register(self.end)
        if self.space.stdout.readline() != "ready\n":
            bed.cannot("no mount namespace for Podman")

    def home(self, who):
        home = self.work / who
        home.mkdir(mode=0o700)
        os.chown(home, *([UID] * 2 if who == USER else [0] * 2))
        return home

    def inside(self, who, command, variables=()):
        """A command in the namespace, as that user and with an environment of its own."""
        home = self.homes[who]
        ids = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"] if who == USER else []
        return ["nsenter", "-t", str(self.space.pid), "-m", f"--wdns={home}", *ids, "env", "-i", f"PATH={os.environ['PATH']}",
                f"HOME={home}", f"XDG_RUNTIME_DIR={home}", *variables, *map(str, command)]

    def command(self, who, verb, *arguments):
        home = self.homes[who]
        fuse = ["--storage-opt", "overlay.mount_program=/usr/bin/fuse-overlayfs"] if who == USER else []
        # By default run raises limits, which fails where this process has lower ones.
        limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"] if verb == "run" else []
        return ["podman", "--root", home / "graph", "--runroot", home / "run", "--storage-driver", "overlay", *fuse,
                "--cgroup-manager", "cgroupfs", "--events-backend", "none", verb, *limits, *arguments]

    def podman(self, who, *arguments):
        return bed.run(self.inside(who, self.command(who, *arguments)))

    def image(self, who):
        """Of the root folder, made once."""
        if self.podman(who, "image", "exists", IMAGE).returncode:
            archive = self.work / "root.tar"
            bed.run(["tar", "-C", self.root, "-cf", archive, "."])
            made = self.podman(who, "import", archive, IMAGE)
            if made.returncode:
                raise RuntimeError(f"no image: {bed.last_line(made.stderr)}")
        return IMAGE

    def containers(self):
        """Those that either user still has."""
        return [name for who in self.homes for name in self.podman(who, "ps", "-aq").stdout.decode().split()]

    def end(self):
        for who in self.homes:
            self.podman(who, "rm", "-af", "-t", "0")
        self.podman(USER, "system", "migrate")  # ends the process that keeps its namespaces
        self.space.kill()
        self.space.wait()
        if self.made_queues:
            self.queues.rmdir()
        for parent in Path("/sys/fs/cgroup").glob("*/libpod_parent"):
            bed.run(["find", parent, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"])
