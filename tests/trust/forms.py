# SPDX-License-Identifier: BSD-3-Clause
"""All forms in which commands that read captures write, each with its strict reader (tests/lib/strict.py)."""
import functools
import json
import shutil

import bed

bed.sys.path.insert(0, str(bed.TOP / "tests/lib"))
import strict  # noqa: E402


@functools.lru_cache(maxsize=None)
def events():
    return strict.Events(json.loads(bed.run([bed.UCXBPF, "schema"]).stdout))


# name: (command, reader); captures follow, and -o OUT
FORMS = {
    "replay": (["replay", "-vv"], strict.text),
    "json": (["replay", "--json"], strict.report),
    "html": (["replay", "--html"], strict.page),
    "folded": (["export", "-f", "folded"], strict.folded),
    "ndjson": (["export", "-f", "ndjson"], lambda path: events()(path)),
    "csv": (["export", "-f", "csv"], strict.csv_folder),
    "sqlite": (["export", "-f", "sqlite"], strict.sqlite),
    "perfetto": (["export", "-f", "perfetto"], strict.perfetto),
    "otf2": (["export", "-f", "otf2"], strict.otf2),
    "check": (["check", "-v"], strict.text),
    "check json": (["check", "-f", "json"], strict.by_schema("check.schema.json")),
    "check junit": (["check", "-f", "junit"], strict.junit),
    "check openmetrics": (["check", "-f", "openmetrics"], strict.openmetrics),
    "check textfile": (["check", "-f", "textfile"], strict.textfile),
    "check html": (["check", "-f", "html"], strict.page),
    "diff": (["diff", "-v"], strict.text),
    "diff json": (["diff", "--json"], strict.by_schema("diff.schema.json")),
    "diff html": (["diff", "--html"], strict.page),
}
PAGES = [name for name in FORMS if name.endswith("html")]
# A format may have nothing to say of a capture, and a file may be no capture: then a line says so, and there is no output.
NOTHING = (b"nothing written: ", b"a ucxbpf capture without one complete chunk")


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def faults_of(reader, path):
    try:
        return list(reader(path))
    except (ValueError, AssertionError, KeyError, SyntaxError, strict.sqlite3.Error) as error:
        return [f"{type(error).__name__}: {error}"[:300]]


def written(name, captures, out, options=(), prefix=()):
    """(status, faults, whether there is a file) of a command; its stderr has to be harmless, too."""
    command, reader = FORMS[name]
    remove(out)
    ended = bed.run([*prefix, bed.UCXBPF, *command, *options, "-o", out, *captures])
    there = out.exists()
    faults = faults_of(reader, out) if there else []
    try:
        faults += [f"stderr: {fault}" for fault in strict.steering(ended.stderr.decode("utf-8"))]
    except UnicodeDecodeError as error:
        faults.append(f"stderr: {error}")
    if ended.returncode is None or ended.returncode < 0:
        faults.append(f"ended by {ended.returncode}")
    if not there and not any(words in ended.stderr for words in NOTHING):
        faults.append(f"no output: {bed.last_line(ended.stderr)}")
    return ended.returncode, faults, there
