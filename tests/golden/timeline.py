# SPDX-License-Identifier: BSD-3-Clause
"""What a timeline of exported events (ndjson) must have in it: spans, ends of messages, totals."""
import json
import re
import sys
from collections import Counter, defaultdict

LAYERS = {"call": "MPI", "op": "UCP", "transfer": "UCT"}
bad = []


def complain(text):
    bad.append(text)
    if len(bad) < 20:
        print(text)


def for_each_pair(check):
    """Of the arguments; the exit status tells whether there was a complaint."""
    for trace, events in zip(sys.argv[1::2], sys.argv[2::2]):
        before = len(bad)
        check(trace, events)
        if len(bad) > before:
            print(f"{trace}, {events}: {len(bad) - before} differences")
    sys.exit(len(bad) != 0)


STEPS = {"uct": "all layers", "ucp": "MPI calls and operations", "mpi": "MPI calls", "windows": "windows of all layers"}


def window_name(event):
    """With a budget: what was recorded, and why."""
    return f"{STEPS[event['step']]} ({event['reason']})" if event["step"] else "window"


def compare(what, got, expected):
    """Two multisets."""
    for row in (Counter(got) - Counter(expected)).elements():
        complain(f"{what}: only in the trace: {row}")
    for row in (Counter(expected) - Counter(got)).elements():
        complain(f"{what}: only in the events: {row}")


def frozen(notes):
    return tuple(sorted(notes.items()))


def given(**notes):
    return {name: value for name, value in notes.items() if value is not None}


def label(events, event):
    place = event["place"]
    return events["places"][place] if place else None


def caller(events, event):
    """Who called UCP; MPI's own code is left out."""
    row = events["rows"].get(event["place"])
    if event["function"] or not row:
        return None
    if row["library"] or row["role"] in (None, "other"):
        return row["library"] or (row["module"].split("/")[-1] if row["role"] else "unknown")
    return None if row["role"] in ("mpi", "mpi_plugin", "mpi_ucc") else row["role"]


def stack_text(events, event):
    stack = event.get("stack")
    if not stack:
        return None
    frames, end = events["stacks"][stack]
    return ";".join(([f"[{end}]"] if end else []) + frames)


def common_notes(events, event, kind):
    """What the events of a shape have in common; sums do not say how exact their ends are."""
    derived = {"seen": "derived"} if event.get("seen") == "derived" else {}
    if kind == "call":
        return derived | given(call_site=label(events, event), stack=stack_text(events, event),
                               communicator=event.get("communicator"), context=event.get("context"), sequence=event.get("sequence"))
    notes = given(function=event["function"], caller=None if event["function"] else caller(events, event),
                  protocol=event["protocol"] or "unknown", peer=event["peer"])
    if kind == "op":
        notes |= given(memory=event["memory"] or "unknown", memory_reason=event["memory_reason"],
                       stack=stack_text(events, event))
        if event.get("status", 0) < 0:
            notes["error"] = -event["status"]
        return notes
    for name in ("transport", "device", "data_path", "initiator", "src_mem", "dst_mem"):
        notes[name] = event[name] or "unknown"
    for name in ("ucp_op", "unexplained", "src_reason", "dst_reason"):
        notes |= given(**{name: event[name]})
    if event.get("retried"):
        notes["retried"] = "yes"
    if event["fetches"]:
        notes["fetches"] = "yes"
    return notes | derived | {"locality": event["locality"], "kind": event["kind"]}


def message_notes(event):
    """What the end of a message says, or the operation that is one."""
    notes = {"message": event["number"], "arrival": event["arrival"]}
    for name in ("src_mem", "dst_mem", "src_reason", "dst_reason", "chain", "via", "chain_reason"):
        notes |= given(**{name: event[name]})
    for name in ("copies", "copy_bytes"):
        notes |= given(**{name: event[name] or None})
    return notes


def single_notes(events, event, kind):
    notes = common_notes(events, event, kind)
    if kind == "op" and event["id"] in events["ends"]:
        notes |= message_notes(events["ends"][event["id"]])
    if event["bytes"] is None:
        notes["bytes_unknown"] = 1
    else:
        notes["bytes"] = event["bytes"]
    notes["precision"] = event["precision"] or "unknown"
    if kind == "call":
        return notes | given(id=event["id"], ops=event["ops"] or None)
    if kind == "op":
        return notes | given(id=event["id"], call=event["call"], tag=int(event["tag"], 16) or None)
    return notes | given(caused_by=event["caused_by"], wire_bytes=event["wire_bytes"] or None)


def fragment_notes(events, event):
    notes = common_notes(events, event, "transfer")
    return notes | given(bytes=event["bytes"], count=event["count"], time=event["time"],
                         precision=event["precision"] or "unknown", caused_by=event["caused_by"],
                         wire_bytes=event["wire_bytes"] or None)


def polls_notes(events, event):
    """They end with the loop, at the latest."""
    return common_notes(events, event, "call") | given(bytes=event["bytes"], count=event["count"],
                                                       time=event["time"] or None, precision="upper_bound")


def sum_notes(events, event, kind):
    notes = common_notes(events, event, kind) | {"count": event["count"], "bytes": event["bytes"],
                                                 "precision": "unknown"}
    for name in ("bytes_unknown", "wire_bytes", "ops", "retries", "timed", "time"):
        notes |= given(**{name: event.get(name) or None})
    return notes


def name_of(event, kind):
    return event["function" if kind == "call" else "op"] or "unknown"


# What steers instead of showing is no part of a name in a timeline.
STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def plain(value):
    if isinstance(value, str):
        return STEERS.sub("?", value)
    if isinstance(value, dict):
        return {plain(name): plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def read_events(path):
    """Lines by what they are about, labels of places, frames of stacks."""
    events = defaultdict(list) | {"places": {}, "rows": {}, "stacks": {}}
    frames = {}
    for line in open(path, encoding="utf-8"):
        event = plain(json.loads(line))
        events[event["event"]].append(event)
        if event["event"] == "place":
            events["places"][event["id"]] = event["label"]
            events["rows"][event["id"]] = event
            frames[event["id"]] = event["symbol"] or event["label"]
        if event["event"] == "stack":
            events["stacks"][event["id"]] = ([frames[i] for i in reversed(event["places"])], event["end"])
    events["ends"] = {}
    for number, message in enumerate(events["message"], 1):
        message["number"] = number
        events["ends"] |= {message["send"]: message, message["recv"]: message}
    return events


def drawn(event):
    """MPI_Init, in which nothing is recorded, lasts until the next call of its thread at most."""
    silent = event.get("function") in ("MPI_Init", "MPI_Init_thread") and event["precision"] == "lower_bound"
    if event["event"] == "call" and silent and event["end"] == event["start"] < (event["until"] or 0):
        return event | {"end": event["until"], "precision": "upper_bound"}
    return event


def lives_of(events):
    """When the first and the last that was seen of each process was."""
    lives = defaultdict(list)
    for kind in LAYERS:
        for event in map(drawn, events[kind] + events[kind + "s"]):
            lives[event["process"]] += [event["start"], event["end"]]
    for message in events["message"]:
        lives[message["src"]].append(message["send_start"])
        lives[message["dst"]].append(max(message["recv_start"] or 0, message["arrival"]))
    lives = {process: times for process, row in lives.items() if (times := [time for time in row if time])}
    for lifetime in events["lifetime"]:
        if lifetime["process"] in lives:
            lives[lifetime["process"]].append(max(lifetime["until"], lives[lifetime["process"]][0]))
    return {process: (min(times), max(times)) for process, times in lives.items()}


def expected_spans(events):
    spans, sums = [], []
    for kind, layer in LAYERS.items():
        for event in map(drawn, events[kind]):
            spans.append((layer, event["process"], event["tid"], name_of(event, kind), event["start"],
                          event["end"], frozen(single_notes(events, event, kind))))
        for event in events[kind + "s"]:
            if event.get("tid"):
                spans.append((layer, event["process"], event["tid"], name_of(event, kind), event["start"],
                              event["end"], frozen(polls_notes(events, event) if kind == "call"
                                                  else fragment_notes(events, event))))
            else:
                sums.append((layer, event["process"], name_of(event, kind),
                             frozen(sum_notes(events, event, kind))))
    return spans, sums


def thread_of(name, layer, main):
    if name == layer:
        return main
    rest = name.removeprefix(layer)
    return None if rest == ", thread not known" else int(rest.removeprefix(" thread "))


def alone(process, name, start, notes):
    """An end of a message that has no operation."""
    return (process, name or "unknown", start, frozen(notes))


def expected_ends(events):
    ops, ends = {op["id"] for op in events["op"]}, []
    for message in events["message"]:
        notes = message_notes(message) | given(function=message["function"], bytes=message["bytes"],
                                               tag=int(message["tag"], 16) or None,
                                               bytes_unknown=1 if message["bytes"] is None else None)
        if message["send"] not in ops:
            ends.append(alone(message["src"], message["send_op"], message["send_start"],
                              notes | {"peer": message["dst"]}))
        if message["recv"] not in ops:
            ends.append(alone(message["dst"], message["recv_op"], message["recv_start"] or message["arrival"],
                              notes | {"peer": message["src"]}))
    return ends


def expected_gpus(events):
    """GPUs as (host, name, pci, model, who uses it)."""
    users = defaultdict(list)
    for user in events["device_user"]:
        users[user["host"], user["device"]].append(f"process {user['process']} as {user['ordinal']}")
    return [(gpu["host"], f"gpu{gpu['number']}", gpu["pci"] or "unknown", gpu["model"] or "unknown",
             ", ".join(users[gpu["host"], gpu["number"]]) or "no known process") for gpu in events["device"]]


def rank_order(events):
    """Ids of processes by job and rank, those without a rank last."""
    first, ranked = {}, lambda p: p["rank"] is not None
    for process in filter(ranked, sorted(events["process"], key=lambda p: p["id"])):
        first.setdefault(process["job"], process["id"])
    return [process["id"] for process in sorted(events["process"], key=lambda p: (
        not ranked(p), (first[p["job"]], p["rank"]) if ranked(p) else (), p["id"]))]


def host_order(events):
    """Hosts in the order of their first process."""
    hosts = {process["id"]: process["host"] for process in events["process"]}
    return list(dict.fromkeys(hosts[index] for index in rank_order(events)))


def totals_of(events):
    totals = events["totals"][0]["totals"]
    counted = totals.get("counted", {"captures": 0})
    rows = {("loss", "produced"): totals["loss"]["produced"], ("loss", "stored"): totals["loss"]["stored"],
            ("captures", "counted"): counted["captures"]}
    for name in ("sends", "receives", "matched", "ambiguous"):
        rows["matching", name] = (totals["matching"] or {}).get(name, 0)
    for name, number in totals.get("detail", {}).items():
        if isinstance(number, dict):
            rows["detail", f"recorded {name}"], number = number["recorded"], number["of"]
        rows["detail", name] = number
    for name in ("data_bytes", "to_op", "to_call", "unexplained"):
        rows["attribution", name] = totals["attribution"][name]
    for name in ("copies", "copy_bytes", "copy_unexplained", "way_bytes", "without_way"):
        rows["attribution", name] = totals["attribution"].get(name, 0)
    lists = {"dropped": totals["loss"]["dropped"], "notes": totals["notes"],
             "unexplained": totals["attribution"]["unexplained_reasons"],
             "without_way": totals["attribution"].get("without_way_reasons", {}),
             "unmatched_sends": (totals["matching"] or {}).get("unmatched_sends", {}),
             "unmatched_receives": (totals["matching"] or {}).get("unmatched_receives", {})}
    for topic, reasons in lists.items():
        for reason, number in reasons.items():
            rows[topic, reason] = number
    return rows
