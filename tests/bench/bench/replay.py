# SPDX-License-Identifier: BSD-3-Clause
"""Part "replay": ten million records made up (../mkcapture.c) and reported on."""
import os
import tempfile
import time
from pathlib import Path

from . import machine

RECORDS = 10_000_000


def measure(*command):
    """(seconds, peak MiB) of a command whose output is thrown away."""
    start = time.monotonic()
    pid = os.posix_spawn(
        command[0], [str(word) for word in command], os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{command[0]}: exit status {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - start, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def main(rounds):
    with tempfile.TemporaryDirectory(prefix="ucxbpf-bench-") as folder:
        capture = Path(folder) / "bench.ucxb"
        made = measure(machine.TOOLS / "mkcapture", capture, RECORDS)
        size = capture.stat().st_size
        read = min(measure(machine.TOOLS / "readcapture", capture) for _ in range(3))
        whole = min(measure(machine.UCXBPF, "replay", capture) for _ in range(3))
    return {"records": RECORDS, "bytes per record": size / RECORDS, "make s": made[0],
            "read s": read[0], "replay s": whole[0], "replay cpu s": whole[2],
            "replay MiB": whole[1], "records per s": RECORDS / max(whole[0], whole[2])}
