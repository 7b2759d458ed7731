#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_hostile.py FORMAT OUT

Looks at an export of names that are meant to do harm (tests/bench/madefacts.c): in no format may they break a
line, steer a terminal, be markup, a formula or no UTF-8. Prints what is wrong; exits with 1 if anything is."""
import csv
import json
import re
import sqlite3
import sys
from pathlib import Path

STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NAMES = 22
bad = 0


def complain(text):
    global bad
    bad += 1
    print(text)


def harmless(where, text, but=""):
    found = STEERS.search("".join(c for c in text if c not in but))
    if found:
        complain(f"{where}: {found.group()!r} in {text[:60]!r}")


def check_json(path):
    text = path.read_text(encoding="utf-8")
    harmless("report", text, "\n")
    report = json.loads(text)
    names = {process["comm"] for process in report["processes"]}
    for name in ("line one\nline two\r\n", "?? no utf-8 ?", "?? overlong", "??? surrogate", "\u00e9\u6f22\U0001f600",
                 "=\"long" + "x" * 4090):
        if name not in names:
            complain(f"no process is called {name[:40]!r}")
    if len(names) != NAMES:
        complain(f"{len(names)} names, not {NAMES}")


def check_ndjson(path):
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        harmless("line", line)
        json.loads(line)


def check_csv(path):
    for table in path.iterdir():
        text = table.read_text(encoding="utf-8")
        harmless(table.name, text, "\n")
        rows = list(csv.reader(text.split("\n")[:-1], strict=True))
        for row in rows:
            if len(row) != len(rows[0]):
                complain(f"{table.name}: {len(row)} cells, {len(rows[0])} in the header")
            for cell in row:
                if cell[:1] in tuple("=+-@") and not re.fullmatch(r"-?\d+", cell):
                    complain(f"{table.name}: a formula: {cell[:40]!r}")


def check_sqlite(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")]
    for table in tables:
        for row in database.execute(f"SELECT * FROM {table}"):
            for cell in row:
                harmless(table, cell if isinstance(cell, str) else "")
    found = database.execute("SELECT count(DISTINCT comm), count(*) FROM process").fetchone()
    if found != (NAMES, NAMES):
        complain(f"{found} processes, not {NAMES}")
    for table, count in (("call_events", NAMES), ("transfer_events", 2 * NAMES)):
        if database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] != count:
            complain(f"{table} has not {count} rows")


def check_folded(path):
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    for line in lines:
        harmless("line", line)
        if not re.fullmatch(r"[^;]+(;[^;]+)* \d+", line):
            complain(f"no path and number: {line[:60]!r}")
    if len(lines) != NAMES:
        complain(f"{len(lines)} lines, not {NAMES}")


def check_bytes(path):
    """Of every format, also of those with no check of their own here."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    for file in files:
        content = file.read_bytes()
        for harm in (b"\x1b[31m", b"\xff\xfe no utf-8", b"\xed\xa0\x80", b"line one\nline two"):
            if harm in content:
                complain(f"{file.name}: {harm!r}")
        if content[:9].lower() == b"<!doctype" and b"<script>alert" in content:
            complain(f"{file.name}: a name became a script")


def main():
    path = Path(sys.argv[2])
    check_bytes(path)
    globals().get(f"check_{sys.argv[1]}", lambda path: None)(path)
    return bad > 0


sys.exit(main())
