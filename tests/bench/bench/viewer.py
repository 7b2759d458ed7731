# SPDX-License-Identifier: BSD-3-Clause
"""Part "viewer": how fast pages of `export -f html` open and answer in a browser (../viewer/)."""
import json
import math
import os
import subprocess
import tempfile
from pathlib import Path

from . import machine
from .replay import RECORDS

EVENTS, PROCESSES, PEERS = 1_000_000, 1000, 100
LIMIT = 900  # seconds for a page
MEASURE = machine.TOP / "tests/bench/viewer/measure.mjs"


def make_records(page, folder):
    capture = folder / "bench.ucxb"
    subprocess.run([machine.TOOLS / "mkcapture", capture, str(RECORDS)], check=True)
    subprocess.run([machine.UCXBPF, "export", "-f", "html", "-o", page, capture], check=True)
    capture.unlink()


def make_pairs(page, _):
    subprocess.run([machine.TOOLS / "mkpage", page, str(EVENTS), str(PROCESSES), str(PEERS)],
                   check=True)


PAGES = {f"{RECORDS // 10**6} million records": make_records,
         f"{PROCESSES:,} processes, {PROCESSES * PEERS:,} pairs": make_pairs}


def why_not():
    """Why nothing can be measured here, None if it can."""
    if not Path("/usr/bin/chromium").exists():
        return "there is no chromium"
    if not (machine.TOP / "user/show/viewer/node_modules/playwright-core").is_dir():
        return "there is no playwright-core in user/show/viewer/node_modules"
    return None


def nearest_rank(values, part):
    """The least of the values that at least this part of them are not above."""
    return sorted(values)[math.ceil(part * len(values)) - 1]


def summed(times):
    return {"n": len(times), "median": nearest_rank(times, 0.5), "p95": nearest_rank(times, 0.95)}


def measure(page, folder):
    """A browser that hangs is ended, with what it started."""
    run = subprocess.run(["timeout", "--kill-after=5", str(LIMIT), "node", MEASURE, page], check=True,
                         capture_output=True, text=True, env={**os.environ, "HOME": str(folder)})
    seen = json.loads(run.stdout)
    actions = {name: {scope: summed([time[scope] for time in times]) for scope in ("view", "page", "cpu")}
               for name, times in seen["actions"].items()}
    return {"MiB": page.stat().st_size / 2**20, "browser": seen["version"], "usable": seen["opened"],
            "load": os.getloadavg()[0], "actions": actions}


def main(_):
    reason = why_not()
    if reason:
        return {"skipped": reason}
    pages = {}
    with tempfile.TemporaryDirectory(prefix="ucxbpf-bench-") as name:
        folder = Path(name)
        for title, make in PAGES.items():
            page = folder / "page.html"
            make(page, folder)
            try:
                pages[title] = measure(page, folder)
            except subprocess.CalledProcessError as error:
                pages[title] = {"skipped": error.stderr.strip().splitlines()[-1:] or ["no answer"]}
    return {"pages": pages}
