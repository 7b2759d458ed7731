# SPDX-License-Identifier: BSD-3-Clause
"""Part "verifier": what the verifier had to look at, program by program (../verifier.c)."""
import subprocess

from . import machine


def main(rounds):
    run = subprocess.run([machine.TOOLS / "verifier"], capture_output=True, text=True)
    rows = [line.split() for line in run.stdout.splitlines()[1:]]
    return {"status": run.returncode, "programs": [
        {"links": row[0], "program": row[1], "verified": int(row[2]), "code": int(row[4])}
        for row in rows]}
