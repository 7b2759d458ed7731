#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_perfetto.py {TRACE EVENTS.ndjson}...

Compares each exported Perfetto trace with the exported events, record by record: calls, operations,
transfers, sums, the flows of messages, devices, counters, clocks, windows, memory, totals. Prints every
difference; exits with 1 if there is one."""
from collections import Counter, defaultdict

from perfetto_trace import Trace
from timeline import (LAYERS, alone, compare, complain, expected_ends, expected_gpus, expected_spans,
                      for_each_pair, frozen, host_order, rank_order, read_events, thread_of, totals_of, window_name)


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
            elif name.endswith(" messages"):
                ends.append((process, slice_))
            else:
                spans.append((layer, process, thread_of(name, layer, main.get(process)), slice_["name"],
                              slice_["start"], slice_["end"], frozen(slice_["notes"])))
    return spans, sums, ends


def check_flows(trace, events, got_ends):
    """Each message's number is that of a flow with two events, the later one the receive's."""
    compare("messages alone", [alone(process, slice_["name"], slice_["start"], slice_["notes"])
                               for process, slice_ in got_ends], expected_ends(events))
    flows = defaultdict(list)
    for track in trace.tracks.values():
        for slice_ in track.slices:
            ins, outs = slice_["flows_in"], slice_["flows_out"]
            if ([slice_["notes"]["message"]] if "message" in slice_["notes"] else []) != ins + outs:
                complain(f"a message without its flow: {slice_}")
            if ins and slice_["name"].endswith("send"):
                complain(f"a message arrives with a send: {slice_}")
            for flow in ins + outs:
                flows[flow].append(slice_)
    if sorted(flows) != list(range(1, len(events["message"]) + 1)):
        complain(f"flows: {len(flows)} for {len(events['message'])} messages")
    for flow, slices in flows.items():
        if len(slices) != 2:
            complain(f"flow {flow} has {len(slices)} events")


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
    fitted = set()
    for track in trace.tracks.values():
        for slice_ in track.slices:
            if slice_["category"] == "clock" and slice_["name"] == "fitted to messages with other hosts":
                fitted.add(track.sequence - 2)
            if slice_["category"] == "clock" and not slice_["notes"]["uncertainty"]:
                complain(f"host {track.sequence - 2}: {slice_}")
    hosts = {process["id"]: process["host"] for process in events["process"]}
    offsets = {number - 2: sequence.offset for number, sequence in trace.sequences.items() if number > 1}
    for message in events["message"]:
        src, dst = hosts[message["src"]], hosts[message["dst"]]
        # 50 us: an offset holds in the middle of a trace, and clocks drift
        if src != dst and fitted & {src, dst} and message["arrival"] + offsets[dst] + 50_000 < (
                message["send_start"] or 0) + offsets[src]:
            complain(f"message {message['number']} arrives before it is sent")
    for clock in events["clock"]:
        sequence = trace.sequences.get(clock["host"] + 2)
        if sequence and clock["host"] not in fitted and sequence.pair != (clock["mono"], clock["real"]):
            complain(f"clock of host {clock['host']}: {sequence.pair}")
    told = {clock["host"] for clock in events["clock"]}
    for process in events["process"]:
        names = [t.descriptor.name for t in trace.tracks.values() if t.sequence == process["host"] + 2]
        if (process["host"] not in told) != ("not known" in names[0]):
            complain(f"host {process['host']}: {names[0]}")


def check_order(trace, events):
    """Processes by rank, hosts by their first process, whatever tracks are sorted by."""
    ranks = {trace.process_of(track): track.descriptor for track in trace.tracks.values()
             if track.descriptor.HasField("process")}
    for by in (lambda d: d.sibling_order_rank, lambda d: d.process.legacy_sort_index):
        if (order := sorted(ranks, key=lambda index: by(ranks[index]))) != rank_order(events):
            complain(f"processes are in the order {order}")
    hosts = {track.sequence - 2: track.descriptor.sibling_order_rank for track in trace.tracks.values()
             if not track.descriptor.parent_uuid and track.descriptor.name.startswith("host ")}
    order = sorted(hosts, key=hosts.get)
    if order[:len(expected := host_order(events))] != expected:
        complain(f"hosts are in the order {order}")


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
    memory, windows, gpus = [], [], []
    for track in trace.tracks.values():
        for slice_ in track.slices:
            if slice_["category"] == "memory":
                notes = slice_["notes"]
                memory.append((trace.process_of(track), slice_["name"], notes["allocations"], notes["bytes"],
                               notes.get("device"), notes["function"], notes.get("exporter")))
            if slice_["category"] == "gpu":
                notes = slice_["notes"]
                gpus.append((track.sequence - 2, slice_["name"], notes["pci"], notes["model"], notes["used by"]))
            if slice_["category"] == "window":
                notes = slice_["notes"]
                windows.append((slice_["start"], slice_["end"], slice_["name"], notes.get("step"), notes.get("reason"),
                                notes.get("paid_ppm", 0)))
    compare("memory", memory, [(e["process"], e["kind"] or "unknown", e["allocations"], e["bytes"], e["device"],
                                e["function"] or "unknown", e["exporter"]) for e in events["memory"]])
    compare("GPUs", gpus, expected_gpus(events))
    compare("windows", windows, [(e["from"], e["to"], window_name(e), e["step"], e["reason"], e["paid_ppm"])
                                 for e in events["window"]])


def check(trace, events):
    spans, sums = expected_spans(events)
    check_clocks(trace, events)
    got_spans, got_sums, ends = traced_spans(trace, events)
    compare("spans", got_spans, spans)
    compare("sums", got_sums, sums)
    check_flows(trace, events, ends)
    check_devices(trace, events)
    check_order(trace, events)
    check_totals(trace, events)
    check_memory_and_windows(trace, events)
    if not got_spans and not got_sums and (spans or sums):
        complain("an empty trace")


for_each_pair(lambda trace, path: check(Trace(trace), read_events(path)))
