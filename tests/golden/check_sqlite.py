#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_sqlite.py DATABASE REPORT.json

Compares the views of an exported database that are the report's tables with the report, row by row and to the
last digit; and all views with each other. Prints every difference; exits with 1 if there is one."""
import json
import sqlite3
import sys

KEYS = {
    "calls": ["process", "function"],
    "ops": ["process", "op", "function", "protocol"],
    "transfers": ["process", "peer", "op", "transport", "device", "locality", "kind", "data_path", "initiator", "ucp_op", "function",
                  "protocol", "src_mem", "dst_mem"],
    "messages": ["src", "dst", "function"],
}
# Keys that a report without memory does not have: rows that differ in nothing else are one there.
OPTIONAL = {
    "ops": ["memory", "memory_reason", "memory_known_by"],
    "transfers": ["src_reason", "dst_reason"],
    "messages": ["src_mem", "dst_mem", "src_reason", "dst_reason", "chain", "via", "chain_reason"],
}
bad = 0


def complain(text):
    global bad
    bad += 1
    if bad < 20:
        print(text)


def known(value):
    """As a column shows it: null for unknown, 1 for true, a list as one text, a name without what steers."""
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, list):
        value = ",".join(value)
    if isinstance(value, str):
        steers = lambda c: c < " " or "\x7f" <= c < "\xa0" or "\u2028" <= c <= "\u202e" or "\u2066" <= c <= "\u2069" or c in "\u061c\u200e\u200f"
        value = "".join("?" if steers(c) else c for c in value)
    return None if value == "unknown" else value


def flat(row):
    cells = {name: known(value) for name, value in row.items()
             if name not in ("time", "time_most_ns")}
    time = row.get("time") or {}
    if "time" in row:
        cells["time_known"] = time.get("known", 0)
        cells.update({f"time_{name}": time.get(name) for name in (
            "sum_ns", "min_ns", "max_ns", "precision", "exact", "exact_sum_ns", "exact_bytes")})
    return cells


def least(a, b, choose):
    return choose(a, b) if a is not None and b is not None else a if b is None else b


def join(rows, keys):
    """Rows that are alike in keys, added up."""
    joined = {}
    for row in rows:
        key = tuple("unknown" if name == "locality" and row[name] is None else row[name] for name in keys)
        into = joined.setdefault(key, None)
        if into is None:
            joined[key] = dict(row)
            continue
        for name, value in row.items():
            if name in keys:
                continue
            if name == "time_min_ns":
                into[name] = least(into[name], value, min)
            elif name == "time_max_ns":
                into[name] = least(into[name], value, max)
            elif name == "time_precision":
                into[name] = least(into[name], value, lambda a, b: a if a == b else "mixed")
            elif name in ("time_sum_ns", "time_exact", "time_exact_sum_ns", "time_exact_bytes"):
                into[name] = least(into[name], value, lambda a, b: a + b)
            elif value is None or into[name] is None:
                into[name] = None
            elif isinstance(value, int):
                into[name] += value
    return joined


VIEWS = {"calls": "call_sums", "ops": "op_sums", "transfers": "transfer_sums", "messages": "message_sums"}
NAMES = {"process": ("rank", "host"), "peer": ("peer_rank", "peer_host"), "src": ("src_rank", "src_host"),
         "dst": ("dst_rank", "dst_host")}


def check_names(what, row, processes):
    """Beside each number of a process are its rank and the name of its host."""
    for member, names in NAMES.items():
        if member in row:
            got = tuple(row.pop(name) for name in names)
            same(f"{what}: names of {member}", got, processes.get(row[member], (None, None)))
    return row


def processes_of(report):
    hosts = {host["id"]: host["name"] for host in report["hosts"]}
    return {process["id"]: (process["rank"], known(hosts.get(process["host"]))) for process in report["processes"]}


def compare(database, name, report):
    report_rows, processes = report[name], processes_of(report)
    rows = [check_names(name, {column: known(value) for column, value in dict(row).items()}, processes)
            for row in database.execute(f"SELECT * FROM {VIEWS[name]}")]
    want = [flat(row) for row in report_rows]
    keys = KEYS[name] + [key for key in OPTIONAL.get(name, []) if want and key in want[0]]
    ours, want = join(rows, keys), join(want, keys)
    for key in ours.keys() - want.keys():
        complain(f"{name}: the report has no row {key}")
    for key, row in want.items():
        if key not in ours:
            complain(f"{name}: no row {key}")
            continue
        for member, value in row.items():
            if ours[key].get(member) != value:
                complain(f"{name} {key}: {member} is {ours[key].get(member)}, in the report {value}")


def one(database, query):
    return database.execute(query).fetchone()[0]


def same(what, ours, want):
    if ours != want:
        complain(f"{what}: {ours}, not {want}")


def waits_by_label(rows):
    """Two overloads of a C++ function may have one label: the view's rows are added up by labels, too."""
    sums = {}
    for row in rows:
        if row["rank"] is None or row["culprit_rank"] is None:
            continue
        key = tuple(known(row[name]) for name in ("kind", "function", "rank", "call_site", "culprit_rank", "culprit_function",
                                                  "culprit_call_site"))
        count, total, most = sums.get(key, (0, 0, 0))
        sums[key] = (count + row["count"], total + row["sum_ns"], max(most, row["max_ns"]))
    return sorted(((*key[:5], key[6], *values) for key, values in sums.items()), key=str)


def stored(value):
    """SQLite has no truth values but 0 and 1."""
    return int(value) if isinstance(value, bool) else value


def compare_views(database, report):
    for kind in ("data", "control", "copy"):
        rows = [row for row in report["transfers"] if row["kind"] == kind]
        for field in ("count", "bytes", "retries"):
            same(f"paths: {kind} {field}",
                 one(database, f"SELECT coalesce(sum({field}), 0) FROM paths WHERE kind = '{kind}'"),
                 sum(row[field] for row in rows))
    same("functions: calls", one(database, "SELECT coalesce(sum(calls), 0) FROM functions"),
         sum(row["count"] for row in report["calls"]))
    for field, table in (("messages", "messages"), ("transfers", "transfers")):
        same(f"pairs: {field}", one(database, f"SELECT coalesce(sum({field}), 0) FROM pairs"),
             sum(row["count"] for row in report[table] if row.get("kind", "data") == "data"))
    same("call_sites", one(database, "SELECT coalesce(sum(count), 0) FROM call_sites"),
         sum(row["count"] for row in report.get("call_sites", [])))
    if "callers" in report:
        same("callers", sorted(str(tuple(row)) for row in database.execute(
            "SELECT process, op, library, role, label, module, count, bytes FROM callers")),
             sorted(str(tuple(row[member] for member in ("process", "op", "library", "role", "label", "module", "count", "bytes")))
                    for row in report["callers"]))
    same("slowest", [row[0] for row in database.execute("SELECT duration_ns FROM slowest")],
         [row["time_ns"] for row in report["slowest"]])
    for view, table in (("hosts", "hosts"), ("clocks", "clocks"), ("nics", "nics"), ("routes", "routes"), ("times", "time")):
        want = report.get(table, [])
        members = [member for member in (want[0] if want else {}) if not isinstance(want[0][member], (dict, list))]
        rows = [tuple(row[member] for member in members) for row in database.execute(f"SELECT * FROM {view}")] if want else []
        same(view, sorted(map(str, rows)), sorted(str(tuple(known(row[member]) for member in members)) for row in want))
    same("waits", sorted((tuple(row) for row in database.execute(
        "SELECT kind, function, rank, call_site, culprit_rank, culprit_call_site, sum(count), sum(sum_ns), max(max_ns)"
        " FROM waits GROUP BY kind, function, rank, host, call_site, culprit_rank, culprit_host, culprit_function,"
        " culprit_call_site") if row[2] is not None and row[4] is not None), key=str),
        waits_by_label(report["waits"]))
    members = list(report["collectives"][0]) if report["collectives"] else []
    same("collectives", sorted(str(tuple(row[member] for member in members)) for row in database.execute(
        "SELECT * FROM collectives")), sorted(str(tuple(map(stored, row.values()))) for row in report["collectives"]))
    same("open_calls", sorted(tuple(row) for row in database.execute(
        "SELECT function, age_ns, certain FROM open_calls")),
        sorted((row["function"], row["age_ns"], row["certain"]) for row in report["open"]))
    same("processes", one(database, "SELECT count(*) FROM process"), len(report["processes"]))
    same("unknown", one(database, "SELECT value FROM unknown WHERE section = 'loss' AND name = 'produced'"),
         report["loss"]["produced"])
    detail = {(name, part): number for name, value in report.get("detail", {}).items()
              for part, number in (value.items() if isinstance(value, dict) else [(None, value)])}
    same("detail", {(row[0], row[1]): row[2] for row in database.execute(
        "SELECT name, reason, value FROM unknown WHERE section = 'detail'")}, detail)
    if not report["filter"]:
        same("references", one(database, "SELECT count(*) FROM transfer_events WHERE caused_by NOT NULL AND"
                                         " caused_by NOT IN (SELECT id FROM op_events)"), 0)


PATH = ("transport", "device", "op", "protocol", "locality", "kind", "data_path", "initiator")


def check_paths(database, report):
    """Means and rates are made of exact times alone."""
    want = {}
    for row in report["transfers"]:
        sums = want.setdefault(tuple(known(row[name]) for name in PATH), [0, 0, 0, 0])
        for at, name in enumerate(("exact", "exact_sum_ns", "exact_bytes", "known")):
            sums[at] += (row["time"] or {}).get(name, 0)
    rows = database.execute(f"SELECT {', '.join(PATH)}, time_exact, time_known, time_mean_ns, gb_per_s FROM paths")
    for *key, exact, timed, mean, rate in rows:
        count, time, moved, seen = want.pop(tuple(map(known, key)), [0, 0, 0, 0])
        same(f"paths: times of {key}", (exact, timed, mean), (count, seen, time // count if count else None))
        same(f"paths: GB/s of {key}", rate, round(moved / time, 3) if time and moved else None)
    same("paths: others", list(want), [])


NEAR = 1 / 62 # of a duration, docs/report.md


def check_durations(database, report):
    """Medians and 99th percentiles: the report's are of a histogram."""
    tables = [("function_times", ("function",), [row for row in report["functions"] if row["exact"]])]
    if "src_mem" not in next(iter(report["path_times"]), {}):
        tables.append(("path_times", PATH, report["path_times"]))
    for view, keys, rows in tables:
        want = {tuple(known(row[name]) for name in keys): row for row in rows}
        for *key, count, median, p99 in database.execute(f"SELECT {', '.join(keys)}, exact, exact_median_ns, exact_p99_ns FROM {view}"):
            row = want.pop(tuple(map(known, key)), None)
            same(f"{view}: exact of {key}", count, row and row["exact"])
            for true, told in ((median, row["exact_median_ns"]), (p99, row["exact_p99_ns"])) if row else []:
                if abs(told - true) > NEAR * true:
                    complain(f"{view}: {told} of {key}, {true} in the database")
        same(f"{view}: others", list(want), [])


def check_hosts(database):
    """A view with a rank has the name of its host beside it."""
    for (view,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({view})")]
        for rank in [name for name in columns if name == "rank" or name.endswith("_rank")]:
            host = rank[:-len("rank")] + "host"
            if host not in columns:
                complain(f"{view} has {rank} and no {host}")
            else:
                pairs = set(map(tuple, database.execute(f"SELECT DISTINCT {rank}, {host} FROM {view} WHERE {host} NOT NULL")))
                same(f"{view}: {host}", pairs - set(map(tuple, database.execute("SELECT rank, host_name FROM process"))), set())


def main():
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    same("integrity", one(database, "PRAGMA integrity_check"), "ok")
    check_paths(database, report)
    check_durations(database, report)
    check_hosts(database)
    for name in KEYS:
        compare(database, name, report)
    compare_views(database, report)
    print(f"{bad} differences")
    return bad > 0


sys.exit(main())
