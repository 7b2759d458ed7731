#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_events.py EVENTS.ndjson REPORT.json SCHEMA.json

Adds up exported events and compares the sums with the report's, row by row and to the last digit; holds
every line against the schema. Prints every difference; exits with 1 if there is one."""
import json
import sys
from collections import Counter, defaultdict

UNKNOWN = "unknown"
CALL_KEYS = ["process", "function"]
OP_KEYS = ["process", "op", "function", "protocol"]
MEMORY_KEYS = ["memory", "memory_reason", "memory_known_by"]
TRANSFER_KEYS = ["process", "peer", "op", "transport", "device", "locality", "kind", "data_path", "initiator", "ucp_op",
                 "function", "protocol", "src_mem", "dst_mem"]
REASON_KEYS = ["src_reason", "dst_reason"]
MESSAGE_KEYS = ["src", "dst", "function"]
WAY_KEYS = ["src_mem", "dst_mem", "src_reason", "dst_reason", "chain", "via", "chain_reason"]
# Of these the report says null where a name is absent; of other names, "unknown".
NULLABLE = {"process", "peer", "src", "dst", "ucp_op", "memory_reason", "memory_known_by",
            "src_reason", "dst_reason", "chain", "via", "chain_reason"}
bad = 0


def complain(text):
    global bad
    bad += 1
    if bad < 20:
        print(text)


class Sums(dict):
    """Of one row: the report's fields, made of single events and of sums."""

    def __init__(self):
        super().__init__(count=0, bytes=0, bytes_unknown=0, time=None)

    def add(self, field, value):
        self[field] = self.get(field, 0) + value

    def add_bytes(self, value):
        self.add("bytes_unknown" if value is None else "bytes", 1 if value is None else value)

    def add_time(self, timed, total, each, precision, moved):
        if not timed:
            return
        time = self["time"] or dict(known=0, sum_ns=0, min_ns=None, max_ns=None, precision=precision, exact=0,
                                    exact_sum_ns=0, exact_bytes=0)
        if precision in ("exact", "sampled"):
            time["exact"] += timed
            time["exact_sum_ns"] += total
            time["exact_bytes"] += moved or 0
        if each is not None:
            time["min_ns"] = min(each, time["min_ns"] if time["min_ns"] is not None else each)
            time["max_ns"] = max(each, time["max_ns"] or 0)
        time["known"] += timed
        time["sum_ns"] += total
        time["precision"] = precision if time["precision"] == precision else "mixed"
        self["time"] = time


def key_of(event, keys, nullable=()):
    return tuple(event[key] if event[key] is not None or key in NULLABLE or key in nullable
                 else UNKNOWN for key in keys)


def add_single(sums, event):
    sums.add("count", 1)
    sums.add_bytes(event["bytes"])
    if event.get("end") is not None and event["precision"] is not None:
        time = event["end"] - event["start"]
        sums.add_time(1, time, time, event["precision"], event["bytes"])


def add_sums(sums, event, fields):
    for field in ["count", "bytes", "bytes_unknown", *fields]:
        sums.add(field, event[field])
    sums.add_time(event["timed"], event["time"], None, event["precision"],
                  event["bytes"] if event["timed"] == event["count"] else None)


class Tables:
    def __init__(self, report):
        def has(table, key):
            return any(key in row for row in report[table])

        self.rows = {name: defaultdict(Sums) for name in
                     ("calls", "ops", "transfers", "messages", "call_sites", "stacks")}
        self.op_keys = OP_KEYS + (MEMORY_KEYS if has("ops", "memory") else [])
        self.transfer_keys = TRANSFER_KEYS + (REASON_KEYS if has("transfers", "src_reason") else [])
        self.message_keys = MESSAGE_KEYS + (WAY_KEYS if has("messages", "src_mem") else [])
        self.places, self.stacks = {}, {}
        self.waits = defaultdict(Counter)
        self.collectives = {}
        self.tags, self.senders = defaultdict(dict), Counter()

    def call(self, event):
        rows = [self.rows["calls"][key_of(event, CALL_KEYS)]]
        base = key_of(event, CALL_KEYS)
        if event["place"]:
            rows.append(self.rows["call_sites"][base + (self.places[event["place"]],)])
        if event["stack"]:
            rows.append(self.rows["stacks"][base + (self.stacks[event["stack"]],)])
        for sums in rows:
            add_single(sums, event)
            sums.add("ops", event["ops"])
        most = None if event["until"] is None else event["until"] - event["start"]
        rows[0]["time_most_ns"] = None if None in (most, rows[0].get("time_most_ns", 0)) else \
            rows[0].get("time_most_ns", 0) + most

    def calls(self, event):
        base = key_of(event, CALL_KEYS)
        sums = self.rows["calls"][base]
        add_sums(sums, event, ["ops"])
        if event["place"]:
            add_sums(self.rows["call_sites"][base + (self.places[event["place"]],)], event, ["ops"])
        if event["tid"] and sums.get("time_most_ns", 0) is not None:  # of a loop that polls
            most = event["time"] if event["precision"] == "exact" else event["end"] - event["start"]
            sums["time_most_ns"] = sums.get("time_most_ns", 0) + most
        elif event["count"]:
            sums["time_most_ns"] = None

    def op_row(self, event):
        return self.rows["ops"][key_of(event, self.op_keys, ["function"])]

    def op(self, event):
        sums = self.op_row(event)
        add_single(sums, event)
        if sums.get("errors", 0) is not None:
            sums.add("errors", event["status"] < 0)
        if event["stack"]:
            sums = self.rows["stacks"][event["process"], event["op"], self.stacks[event["stack"]]]
            add_single(sums, event)
            sums.add("ops", 1)

    def ops(self, event):
        sums = self.op_row(event)
        add_sums(sums, event, [])
        sums["errors"] = None

    def transfer_row(self, event):
        sums = self.rows["transfers"][key_of(event, self.transfer_keys, ["function"])]
        for field in ("retries", "wire_bytes", "unexplained_bytes"):
            sums.add(field, 0)
        return sums

    def transfer(self, event):
        sums = self.transfer_row(event)
        if event["retried"]:
            sums.add("retries", 1)
            return
        add_single(sums, event)
        sums.add("wire_bytes", event["wire_bytes"])
        if event["unexplained"]:
            sums.add("unexplained_bytes", event["bytes"] or 0)

    def transfers(self, event):
        sums = self.transfer_row(event)
        add_sums(sums, event, ["retries", "wire_bytes"])
        if event["unexplained"]:
            sums.add("unexplained_bytes", event["bytes"])

    def wait(self, event):
        sums = self.waits[event["kind"], event["function"], event["process"], event["culprit"]]
        sums.update(count=1, sum_ns=event["ns"], fresh_ns=event["fresh"])

    def collective(self, event):
        key = tuple(event[name] for name in ("function", "communicator", "ranks", "algorithm", "reason"))
        sums = self.collectives.setdefault(key, dict(count=0, context=event["context"], numbered=0, first_sequence=None,
                                                     last_sequence=None, rounds=None, messages=0, most_sent=0, bytes=0,
                                                     least_bytes=event["bytes"], most_bytes=0,
                                                     rounds_bound=False, bytes_bound=False))
        for name in ("messages", "bytes"):
            sums[name] += event[name]
        sums["count"] += 1
        if sums["context"] != event["context"]:
            sums["context"] = None
        sums["numbered"] += event["sequence"] is not None
        for name, of in (("first_sequence", min), ("last_sequence", max)):
            sums[name] = of(filter(None, (sums[name], event["sequence"])), default=None)
        sums["rounds"] = max(filter(None, (sums["rounds"], event["rounds"])), default=None)
        sums["most_sent"] = max(sums["most_sent"], event["most_sent"])
        for name in ("rounds_bound", "bytes_bound"):
            sums[name] = sums[name] or event[name]
        sums["least_bytes"] = min(sums["least_bytes"], event["bytes"])
        sums["most_bytes"] = max(sums["most_bytes"], event["bytes"])

    def message(self, event):
        sums = self.rows["messages"][key_of(event, self.message_keys, ["function"])]
        sums.add("count", 1)
        sums.add("copies", event["copies"])
        sums.add("copy_bytes", event["copy_bytes"])
        sums.add_bytes(event["bytes"])
        sums.pop("time", None)
        if event["library"]:
            self.tagged(event)

    def tagged(self, event):
        row = self.tags[event["library"], event["team"], event["kind"]]
        for name, value in (("messages", 1), ("bytes", event["bytes"] or 0)):
            row[name] = row.get(name, 0) + value
        for name, number in (("senders", event["sender"]), ("operations", event["number"])):
            row.setdefault(name, set()).update({number} - {None})
        if event["sender"] is not None:
            self.senders[event["library"], event["team"], event["sender"], event["src"]] += 1


def compare_tags(tables, report):
    rows = {key: {name: len(value) if isinstance(value, set) else value for name, value in row.items()}
            for key, row in tables.tags.items()}
    same("tags", rows, {(row["library"], row["team"], row["kind"]):
                        {name: row[name] for name in ("messages", "bytes", "senders", "operations")}
                        for row in report.get("tags", [])})
    same("tag_senders", dict(tables.senders),
         {(row["library"], row["team"], row["sender"], row["process"]): row["messages"]
          for row in report.get("tag_senders", [])})


def plain(value):
    """A list of names is one text in events."""
    return ",".join(value) if isinstance(value, list) else value


def place_key(place):
    return (place["label"], place["module"], place["offset"] if place["module"] else None)


def compare(name, ours, report_rows, key_of_row):
    left = dict(ours)
    for row in report_rows:
        key = key_of_row(row)
        sums = left.pop(key, None)
        if sums is None:
            complain(f"{name}: no events of {key}")
            continue
        for field, value in sums.items():
            if field in row and row[field] != value:
                complain(f"{name} {key}: {field} is {value} in events, {row[field]} in the report")
    for key in left:
        complain(f"{name}: the report has no row {key}")


def compare_tables(tables, report):
    keys = dict(calls=CALL_KEYS, ops=tables.op_keys, transfers=tables.transfer_keys, messages=tables.message_keys)
    for name, fields in keys.items():
        compare(name, tables.rows[name], report[name],
                lambda row, fields=fields: tuple(plain(row[field]) for field in fields))
    compare("call_sites", tables.rows["call_sites"], report.get("call_sites", []),
            lambda row: (row["process"], row["function"], place_key(row)))
    compare("stacks", tables.rows["stacks"], report.get("stacks", []),
            lambda row: (row["process"], row["function"],
                         (row["end"], tuple(place_key(frame) for frame in row["frames"]))))


def compare_waits(tables, report):
    rows = defaultdict(Counter)
    for row in report["waits"]:
        rows[row["kind"], row["function"], row["process"], row["culprit"]].update(
            {name: row[name] for name in ("count", "sum_ns", "fresh_ns")})
    same("waits", dict(tables.waits), dict(rows))


def compare_sizes(events, report):
    """Messages by powers of two, and the sizes that each protocol sent."""
    sizes, sent = defaultdict(Counter), defaultdict(list)
    hosts = {event["id"]: event["host"] for event in events["process"]}
    for event in events["message"]:
        if event["bytes"] is None:
            continue
        known = bool(event["arrival"] and event["recv_start"])
        early = known and event["arrival"] < event["recv_start"]
        sizes[event["bytes"].bit_length()].update(messages=1, bytes=event["bytes"], known=known, unexpected=early,
                                                  unexpected_bytes=event["bytes"] * early)
    same("sizes", {number: +row for number, row in sizes.items()},
         {row["most_bytes"].bit_length(): +Counter({name: value for name, value in row.items() if name not in ("from_bytes", "most_bytes")})
          for row in report["sizes"]})
    for event in events["op"]:
        here, there = hosts.get(event["process"]), hosts.get(event["peer"])
        if event["sends"] and event["protocol"] and event["bytes"] is not None:
            where = (UNKNOWN if here is None or there is None else "self" if event["process"] == event["peer"]
                     else "node" if here == there else "remote")
            sent[event["function"], event["op"], where, event["memory"], event["protocol"]].append(event["bytes"])
    same("protocols", {key: (len(all), sum(all), min(all), max(all)) for key, all in sent.items()},
         {tuple(row[name] for name in ("function", "op", "locality", "memory", "protocol")):
          tuple(row[name] for name in ("count", "bytes", "least_bytes", "most_bytes")) for row in report["protocols"]})


PATH = ("transport", "device", "op", "protocol", "locality", "kind", "data_path", "initiator", "src_mem", "dst_mem")
NEAR = 1 / 62 # of a duration, docs/report.md


def compare_durations(events, report):
    """Medians and 99th percentiles, by path and by function, from single durations."""
    keys = [name for name in PATH if name in next(iter(report["path_times"]), {})]
    tables = [
        ("path_times", [event for event in events["transfer"] if not event["retried"]], keys, report["path_times"]),
        ("functions", events["call"], ["function"], [row for row in report["functions"] if row["exact"]]),
    ]
    for name, singles, keys, rows in tables:
        durations = defaultdict(list)
        for event in singles:
            if event["precision"] in ("exact", "sampled") and event["end"] is not None:
                durations[tuple(event[key] or UNKNOWN for key in keys)].append(event["end"] - event["start"])
        same(f"{name}: exact", {key: len(all) for key, all in durations.items()},
             {tuple(row[key] for key in keys): row["exact"] for row in rows})
        for row in rows:
            all = sorted(durations[tuple(row[key] for key in keys)])
            for percent, told in ((50, row["exact_median_ns"]), (99, row["exact_p99_ns"])):
                true = all[(len(all) * percent + 99) // 100 - 1] if all else 0
                if abs(told - true) > NEAR * true:
                    complain(f"{name}: percentile {percent} of {row} is {true}")


def same(name, ours, report):
    if ours != report:
        complain(f"{name}: {ours} in events, {report} in the report")


def words(row, fields):
    return {field: row[field] if row[field] is not None else UNKNOWN for field in fields}


def compare_processes(events, report):
    same("processes", [words(event, ["id", "host", "pid", "tgid", "start_time", "comm", "exe", "rank"])
                       for event in sorted(events["process"], key=lambda event: event["id"])],
         [words(row, ["id", "host", "pid", "tgid", "start_time", "comm", "exe", "rank"])
          for row in report["processes"]])
    same("ucx", sorted((event["process"], event["path"], event["layout"] or UNKNOWN)
                       for event in events["ucx"]),
         sorted((row["id"], ucx["path"], ucx["layout"]) for row in report["processes"]
                for ucx in row["ucx"]))
    same("environment", [(event["process"], event["name"], event["value"]) for event in events["environment"]],
         [(row["id"], variable["name"], variable["value"]) for row in report["processes"]
          for variable in row["environment"] or []])
    same("devices", sorted((event["host"], f"gpu{event['number']}", event["pci"], event["model"])
                           for event in events["device"]),
         sorted((row["host"], row["name"], row["pci"], row["model"]) for row in report.get("devices", [])))
    same("device users", sorted((event["host"], event["process"], event["ordinal"])
                                for event in events["device_user"]),
         sorted((row["host"], user["process"], user["ordinal"]) for row in report.get("devices", [])
                for user in row["processes"]))
    same("windows", sorted(event["to"] - event["from"] for event in events["window"]),
         sorted(row["to_ns"] - row["from_ns"] for row in report.get("windows", [])))
    same("memory", sorted((event["process"], event["kind"] or UNKNOWN, event["bytes"])
                          for event in events["memory"]),
         sorted((row["process"], row["kind"], row["bytes"]) for row in report.get("memory", [])))


def check_lines(lines, schema):
    shapes = {shape["properties"]["event"]["const"]: shape for shape in schema["oneOf"]}
    names = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list,
             "null": type(None)}
    for event in lines:
        shape = shapes[event["event"]]
        if set(event) != set(shape["required"]):
            complain(f"{event['event']}: members {set(event) ^ set(shape['required'])}")
        for name, rule in shape["properties"].items():
            value, types = event.get(name), rule.get("type", [])
            types = [types] if isinstance(types, str) else types
            if types and type(value) not in [names[word] for word in types]:
                complain(f"{event['event']}.{name}: {value!r} is not {types}")
            if "enum" in rule and value not in rule["enum"]:
                complain(f"{event['event']}.{name}: {value!r} is none of {rule['enum']}")
            if "const" in rule and value != rule["const"]:
                complain(f"{event['event']}.{name}: {value!r} is not {rule['const']!r}")


def main():
    lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    events = defaultdict(list)
    tables = Tables(report)

    check_lines(lines, json.load(open(sys.argv[3], encoding="utf-8")))
    for event in lines:
        events[event["event"]].append(event)
        if event.get("least") == 0:
            complain(f"{event['event']}: least is 0, not null")
        if event["event"] == "place":
            for name, of in (("line", "file"), ("offset", "module"), ("symbol_offset", "symbol")):
                if (event[name] is None) != (event[of] is None):
                    complain(f"place {event['label']}: {name} is {event[name]}, {of} {event[of]}")
            tables.places[event["id"]] = place_key(event)
        elif event["event"] == "stack":
            tables.stacks[event["id"]] = (event["end"], tuple(tables.places[number]
                                                              for number in event["places"]))
        elif hasattr(tables, event["event"]):
            getattr(tables, event["event"])(event)
    compare_tables(tables, report)
    compare_waits(tables, report)
    same("collectives", tables.collectives, {tuple(row.values())[:5]: dict(list(row.items())[5:])
                                             for row in report["collectives"]})
    compare_tags(tables, report)
    compare_processes(events, report)
    compare_sizes(events, report)
    compare_durations(events, report)
    same("filter", lines[0]["filter"], report["filter"])
    totals = lines[-1]["totals"]
    same("totals", totals, {name: report[name] for name in
                            ("counted", "loss", "detail", "matching", "attribution", "waits_unknown", "collective_joins", "notes",
                             "self", "derived", "short_sends")
                            if name in report})
    print(f"{len(lines)} lines, {bad} differences")
    return bad > 0


sys.exit(main())
