#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_perfetto.py TRACE EVENTS.ndjson

Compares an exported Perfetto trace with the exported events, record by record: calls, operations,
transfers, sums, the flows of messages, devices, counters, clocks, windows, memory, totals. Prints every
difference; exits with 1 if there is one."""
import json
import sys
from collections import Counter, defaultdict

from perfetto_trace import Trace

LAYERS = {"call": "MPI", "op": "UCP", "transfer": "UCT"}
bad = 0


def complain(text):
    global bad
    bad += 1
    if bad < 20:
        print(text)


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


def stack_text(events, event):
    stack = event.get("stack")
    if not stack:
        return None
    frames, end = events["stacks"][stack]
    return ";".join(([f"[{end}]"] if end else []) + frames)


def common_notes(events, event, kind):
    """What the events of a shape have in common; sums do not say how exact their ends are."""
    if kind == "call":
        return given(call_site=label(events, event), stack=stack_text(events, event))
    notes = given(function=event["function"], protocol=event["protocol"] or "unknown", peer=event["peer"])
    if kind == "op":
        notes |= given(memory=event["memory"] or "unknown", memory_reason=event["memory_reason"])
        if event.get("status", 0) < 0:
            notes["error"] = -event["status"]
        return notes
    for name in ("transport", "device", "src_mem", "dst_mem"):
        notes[name] = event[name] or "unknown"
    for name in ("ucp_op", "unexplained", "src_reason", "dst_reason"):
        notes |= given(**{name: event[name]})
    if event.get("retried"):
        notes["retried"] = "yes"
    return notes | {"locality": event["locality"], "kind": event["kind"]}


def single_notes(events, event, kind):
    notes = common_notes(events, event, kind)
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


def sum_notes(events, event, kind):
    notes = common_notes(events, event, kind) | {"count": event["count"], "bytes": event["bytes"],
                                                 "precision": "unknown"}
    for name in ("bytes_unknown", "wire_bytes", "ops", "retries", "timed", "time"):
        notes |= given(**{name: event.get(name) or None})
    return notes


def name_of(event, kind):
    return event["function" if kind == "call" else "op"] or "unknown"


def read_events(path):
    """Lines by what they are about, labels of places, frames of stacks."""
    events = defaultdict(list) | {"places": {}, "stacks": {}}
    frames = {}
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        events[event["event"]].append(event)
        if event["event"] == "place":
            events["places"][event["id"]] = event["label"]
            frames[event["id"]] = event["symbol"] or event["label"]
        if event["event"] == "stack":
            events["stacks"][event["id"]] = ([frames[i] for i in reversed(event["places"])], event["end"])
    return events


def expected_spans(events):
    spans, sums = [], []
    for kind, layer in LAYERS.items():
        for event in events[kind]:
            spans.append((layer, event["process"], event["tid"], name_of(event, kind), event["start"],
                          event["end"], frozen(single_notes(events, event, kind))))
        for event in events[kind + "s"]:
            if event.get("tid"):
                spans.append((layer, event["process"], event["tid"], name_of(event, kind), event["start"],
                              event["end"], frozen(fragment_notes(events, event))))
            else:
                sums.append((layer, event["process"], name_of(event, kind),
                             frozen(sum_notes(events, event, kind))))
    return spans, sums


def thread_of(name, layer, main):
    if name == layer:
        return main
    rest = name.removeprefix(layer)
    return None if rest == ", thread not known" else int(rest.removeprefix(" thread "))


def traced_spans(trace, events):
    main = {process["id"]: process["tgid"] for process in events["process"]}
    spans, sums, ends = [], [], []
    for track in trace.tracks.values():
        process, name = trace.process_of(track), track.descriptor.name
        for slice_ in track.slices:
            layer = slice_["category"]
            if layer not in LAYERS.values():
                continue
            if "sums" in name:
                sums.append((layer, process, slice_["name"], frozen(slice_["notes"])))
            elif name.endswith("messages"):
                ends.append((process, slice_))
            else:
                spans.append((layer, process, thread_of(name, layer, main.get(process)), slice_["name"],
                              slice_["start"], slice_["end"], frozen(slice_["notes"])))
    return spans, sums, ends


def alone(process, name, start, notes):
    """An end of a message that has no operation, as a slice of its own says it."""
    return (process, name, start) + tuple(notes.get(key) or 0 for key in ("bytes", "tag", "arrival"))


def expected_flows(events):
    """Both ends of each message: the id of an operation, or what is said of an end without one."""
    ops = {op["id"] for op in events["op"]}
    flows = []
    for message in events["message"]:
        send, recv = message["send"], message["recv"]
        notes = message | {"tag": int(message["tag"], 16)}
        if send not in ops:
            send = alone(message["src"], message["send_op"] or "unknown", message["send_start"], notes)
        if recv not in ops:
            recv = alone(message["dst"], message["recv_op"] or "unknown",
                         message["recv_start"] or message["arrival"], notes)
        flows.append((send, recv))
    return flows


def traced_flows(trace, ends):
    flows = defaultdict(set)
    for track in trace.tracks.values():
        for slice_ in track.slices:
            if slice_["category"] == "UCP" and "message" not in slice_["notes"]:
                for flow in slice_["flows_out"] + slice_["flows_in"]:
                    flows[flow].add(slice_["notes"]["id"])
                if slice_["flows_in"] and slice_["name"].endswith("send"):
                    complain(f"a message arrives with a send: {slice_}")
    for process, slice_ in ends:
        for flow in slice_["flows_out"]:
            flows[flow].add(alone(process, slice_["name"], slice_["start"], slice_["notes"]))
            if flow != slice_["notes"]["message"]:
                complain(f"flow {flow} is said to be {slice_['notes']['message']}")
    return flows


def check_flows(trace, events, ends):
    got = traced_flows(trace, ends)
    if sorted(got) != list(range(1, len(events["message"]) + 1)):
        complain(f"flows: {len(got)} for {len(events['message'])} messages")
    compare("flows", [frozenset(flow) for flow in got.values()],
            [frozenset(flow) for flow in expected_flows(events)])


def check_devices(trace, events):
    """Busy times add up to all transfers that were sent, counters to the payload that was."""
    hosts = {process["id"]: process["host"] for process in events["process"]}
    device, rate = defaultdict(Counter), Counter()
    for event in events["transfer"] + [e for e in events["transfers"] if e["tid"]]:
        if event.get("retried"):
            continue
        count = event.get("count", 1)
        sums = device[hosts[event["process"]], f"{event['transport'] or 'unknown'}/{event['device'] or 'unknown'}"]
        sums["copies" if event["kind"] == "copy" else event["kind"]] += count
        if event["kind"] != "data":
            continue
        if event["bytes"] is None:
            sums["bytes_unknown"] += count
        else:
            sums["bytes"] += event["bytes"]
            rate[hosts[event["process"]], f"{event['transport'] or 'unknown'} bytes/s"] += event["bytes"]
    got, got_rate = defaultdict(Counter), Counter()
    for track in trace.tracks.values():
        key = (track.sequence - 2, track.descriptor.name)
        for slice_ in track.slices:
            if slice_["category"] == "device":
                got[key].update(slice_["notes"])
        for (start, value), (end, _) in zip(track.counts, track.counts[1:]):
            got_rate[key] += round(value * (end - start) / 1e9)
        if track.counts and track.counts[-1][1] != 0:
            complain(f"{key}: the last value is not 0")
    for sums in (device, got):
        for key in sums:
            sums[key] = frozen(+sums[key])
    compare("devices", got.items(), device.items())
    compare("counters", (+got_rate).items(), (+rate).items())


def check_clocks(trace, events):
    for clock in events["clock"]:
        sequence = trace.sequences.get(clock["host"] + 2)
        if sequence and sequence.pair != (clock["mono"], clock["real"]):
            complain(f"clock of host {clock['host']}: {sequence.pair}")
    told = {clock["host"] for clock in events["clock"]}
    for process in events["process"]:
        names = [t.descriptor.name for t in trace.tracks.values() if t.sequence == process["host"] + 2]
        if (process["host"] not in told) != ("not known" in names[0]):
            complain(f"host {process['host']}: {names[0]}")


def totals_of(events):
    totals = events["totals"][0]["totals"]
    counted = totals.get("counted", {"captures": 0})
    rows = {("loss", "produced"): totals["loss"]["produced"], ("loss", "stored"): totals["loss"]["stored"],
            ("captures", "counted"): counted["captures"]}
    for name in ("sends", "receives", "matched", "ambiguous"):
        rows["matching", name] = (totals["matching"] or {}).get(name, 0)
    for name in ("data_bytes", "to_op", "to_call", "unexplained"):
        rows["attribution", name] = totals["attribution"][name]
    for name in ("copies", "copy_bytes", "copy_unexplained"):
        rows["attribution", name] = totals["attribution"].get(name, 0)
    lists = {"dropped": totals["loss"]["dropped"], "notes": totals["notes"],
             "unexplained": totals["attribution"]["unexplained_reasons"],
             "unmatched_sends": (totals["matching"] or {}).get("unmatched_sends", {}),
             "unmatched_receives": (totals["matching"] or {}).get("unmatched_receives", {})}
    for topic, reasons in lists.items():
        for reason, number in reasons.items():
            rows[topic, reason] = number
    return rows


def check_totals(trace, events):
    rows, heading = {}, None
    for track in trace.tracks.values():
        for slice_ in track.slices:
            if slice_["category"] == "totals":
                notes = slice_["notes"]
                rows[notes["topic"], notes["what"]] = notes["number"]
                heading = track.descriptor.name
    for ignored in (("loss", "damaged_bytes"), ("captures", "all")):
        rows.pop(ignored, None)
    compare("totals", rows.items(), totals_of(events).items())
    if rows.get(("captures", "counted")) and "--count" not in heading:
        complain(f"made with --count, and the heading is: {heading}")


def check_memory_and_windows(trace, events):
    memory, windows = [], []
    for track in trace.tracks.values():
        for slice_ in track.slices:
            if slice_["category"] == "memory":
                notes = slice_["notes"]
                memory.append((trace.process_of(track), slice_["name"], notes["allocations"], notes["bytes"],
                               notes.get("device")))
            if slice_["category"] == "window":
                windows.append((slice_["start"], slice_["end"]))
    compare("memory", memory, [(e["process"], e["kind"] or "unknown", e["allocations"], e["bytes"], e["device"])
                               for e in events["memory"]])
    compare("windows", windows, [(e["from"], e["to"]) for e in events["window"]])


def main():
    trace, events = Trace(sys.argv[1]), read_events(sys.argv[2])
    spans, sums = expected_spans(events)
    got_spans, got_sums, ends = traced_spans(trace, events)
    compare("spans", got_spans, spans)
    compare("sums", got_sums, sums)
    check_flows(trace, events, ends)
    check_devices(trace, events)
    check_clocks(trace, events)
    check_totals(trace, events)
    check_memory_and_windows(trace, events)
    if not got_spans and not got_sums and (spans or sums):
        complain("an empty trace")
    return bad != 0


sys.exit(main())
