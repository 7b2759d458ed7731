#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_hostile.py FORMAT OUT

Looks at an export of names that are meant to do harm (tests/bench/madefacts.c): in no format may they break a
line, steer a terminal, be markup, a formula or no UTF-8. Prints what is wrong; exits with 1 if anything is."""
import json
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
sys.dont_write_bytecode = True
import strict  # noqa: E402

NAMES = 22
READERS = {"json": strict.json_file, "ndjson": strict.ndjson, "csv": strict.csv_folder, "sqlite": strict.sqlite,
           "folded": strict.folded}


def json_names(path):
    names = {process["comm"] for process in json.loads(path.read_text(encoding="utf-8"))["processes"]}
    for name in ("line one\nline two\r\n", "?? no utf-8 ?", "?? overlong", "??? surrogate", "\u00e9\u6f22\U0001f600",
                 "=\"long" + "x" * 4090):
        if name not in names:
            yield f"no process is called {name[:40]!r}"
    if len(names) != NAMES:
        yield f"{len(names)} names, not {NAMES}"


def sqlite_names(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = database.execute("SELECT count(DISTINCT comm), count(*) FROM process").fetchone()
    if found != (NAMES, NAMES):
        yield f"{found} processes, not {NAMES}"
    for table, count in (("call_events", NAMES), ("transfer_events", 2 * NAMES)):
        if database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] != count:
            yield f"{table} has not {count} rows"


def folded_names(path):
    lines = path.read_text(encoding="utf-8").count("\n")
    if lines != NAMES:
        yield f"{lines} lines, not {NAMES}"


COUNTS = {"json": json_names, "sqlite": sqlite_names, "folded": folded_names}


def harmful_bytes(path):
    """Of every format, also of those with no reader here."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    for file in files:
        content = file.read_bytes()
        for harm in (b"\x1b[31m", b"\xff\xfe no utf-8", b"\xed\xa0\x80", b"line one\nline two"):
            if harm in content:
                yield f"{file.name}: {harm!r}"
        if content[:9].lower() == b"<!doctype" and b"<script>alert" in content:
            yield f"{file.name}: a name became a script"


def main(form, path):
    checks = [harmful_bytes, *(table[form] for table in (READERS, COUNTS) if form in table)]
    faults = [fault for check in checks for fault in check(path)]
    print(*faults, sep="\n")
    return bool(faults)


sys.exit(main(sys.argv[1], Path(sys.argv[2])))
