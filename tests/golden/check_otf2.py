#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check_otf2.py {ARCHIVE EVENTS.ndjson}...

Compares each exported OTF2 archive, as OTF2's own library reads it, with the exported events, record by record:
calls, operations, transfers, sums, messages and how tools match them, windows, totals. Prints every
difference; exits with 1 if there is one."""
from collections import Counter, defaultdict, deque

import otf2
from otf2.events import Enter, Leave, MpiCollectiveBegin, MpiCollectiveEnd, MpiRecv, MpiSend

from collectives import expected_collectives, why_calls_are_missing
from timeline import (compare, complain, expected_gpus, expected_spans, for_each_pair, frozen, given, host_order,
                      lives_of, message_notes, rank_order, read_events, thread_of, totals_of, window_name)


FITTED = "fitted to messages with other hosts"
SLACK = 50_000  # ns: an offset holds in the middle of a trace, and clocks drift


class Archive:
    def __init__(self, path, events):
        self.spans, self.sums, self.windows, self.messages = [], [], [], []
        self.collectives, self.begun = [], {}
        self.programs, self.running, self.touched = [], {}, set()
        self.places = {}
        self.main = {process["id"]: process["tgid"] for process in events["process"]}
        self.processes = {process["id"]: process for process in events["process"]}
        with otf2.reader.open(f"{path}/traces.otf2") as trace:
            self.read(trace, Counter())

    def read(self, trace, seen):
        definitions = trace.definitions
        self.properties = {(p.system_tree_node.name, p.name): p.value
                           for p in definitions.system_tree_node_properties}
        self.of_node = {(p.system_tree_node, p.name): p.value for p in definitions.system_tree_node_properties}
        self.nodes = list(definitions.system_tree_nodes)
        self.groups = list(definitions.location_groups)
        self.locations = list(definitions.locations)
        self.ids = {p.location_group: p.value for p in definitions.location_group_properties if p.name == "id"}
        self.hosts = {node: self.of_node.get((node, "id")) for node in self.nodes}
        self.ranks = [self.ids.get(location.group) for location in
                      next(g for g in definitions.groups if "LOCATIONS" in str(g.group_type)).members]
        self.offsets = {p.system_tree_node: p.value for p in definitions.system_tree_node_properties
                        if p.name == "clock offset"}
        inside = {}
        for location, event in trace.events:
            seen[location] += 1
            self.event(location, event, inside)
        if inside:
            complain(f"never left: {inside}")
        for location in definitions.locations:
            if location.number_of_events != seen[location]:
                complain(f"{location}: {seen[location]} events, {location.number_of_events} are said to be")

    def place(self, location):
        """Process (None: not known), and what was added to times of the host's clock."""
        if location not in self.places:
            self.places[location] = (self.ids.get(location.group),
                                     self.offsets.get(location.group.system_tree_parent, 0))
        return self.places[location]

    def event(self, location, event, inside):
        process, offset = self.place(location)
        time = event.time - offset
        notes = {attribute.name: value for attribute, value in (event.attributes or {}).items()}
        if isinstance(event, (Enter, Leave)) and event.region.description == "program":
            self.program(location, process, event, time, inside)
            return
        self.touched.add(location)
        if self.running.get(location) == "over":
            complain(f"{location}: an event behind the program's end")
        if isinstance(event, Enter):
            if location in inside:
                complain(f"{location}: regions overlap")
            inside[location] = (event.region, time, notes)
        elif isinstance(event, Leave):
            region, start, notes = inside.pop(location)
            if region != event.region:
                complain(f"{location}: left {event.region}, was in {region}")
            if location in self.begun:
                complain(f"{location}: left {region} within a collective operation")
            self.span(location, process, region, start, time, notes)
        elif isinstance(event, MpiCollectiveBegin):
            if location in self.begun or inside[location][1] != time:
                complain(f"{location}: a collective operation begins elsewhere than its region")
            self.begun[location] = inside[location][2].get("id")
        elif isinstance(event, MpiCollectiveEnd):
            members = [self.ids[rank.group] for rank in event.communicator.group.members]
            self.collectives.append((self.begun.pop(location), process, str(event.collective_op).split(".")[-1], tuple(members),
                                     event.root, event.size_sent, event.size_received, frozen(notes)))
        else:
            layer, thread = "MPI", thread_of(location.name, "MPI", self.main.get(process))
            assert layer in location.name
            self.messages.append((event, process, thread, time, notes))

    def program(self, location, process, event, time, inside):
        """A region around all else of the first location."""
        if isinstance(event, Enter):
            if location in self.running or location in self.touched:
                complain(f"{location}: a program begins behind other events")
            if location._ref != self.groups.index(location.group):
                complain(f"{location}: a program, and not the first location of its process")
            self.running[location] = event.region, time
        else:
            region, start = self.running[location]
            if location in inside or region != event.region:
                complain(f"{location}: the program {region} ends inside of something")
            self.programs.append((process, region.name, start, time))
            self.running[location] = "over"

    def span(self, location, process, region, start, end, notes):
        layer = region.description
        if layer == "ucxbpf":
            self.windows.append((start, end, region.name))
        elif "sums" in location.name:
            self.sums.append((layer, process, region.name.removesuffix(" (sums)"), frozen(notes)))
        else:
            thread = thread_of(location.name, layer, self.main.get(process))
            self.spans.append((layer, process, thread, region.name, start, end, frozen(notes)))


def at_all_ends(spans):
    """In OTF2 everything has an end: what has none is left at once."""
    return [(*rest, start, end if end and end > start else start, notes)
            for *rest, start, end, notes in spans]


def without_message(spans):
    """Operations do not say which message they are an end of: messages are events of their own."""
    rows = []
    for layer, process, thread, name, start, end, notes in spans:
        drop = {"message", "arrival", "src_mem", "dst_mem", "src_reason", "dst_reason", "chain", "via",
                "chain_reason", "copies", "copy_bytes"} if layer == "UCP" else set()
        rows.append((layer, process, thread, name, start, end,
                     tuple(note for note in notes if note[0] not in drop)))
    return rows


def expected_messages(events):
    rows = []
    for message in events["message"]:
        notes = message_notes(message) | given(function=message["function"], bytes=message["bytes"],
                                               tag=int(message["tag"], 16) or None,
                                               bytes_unknown=1 if message["bytes"] is None else None)
        received = max(message["recv_start"] or 0, message["arrival"])
        rows.append(("MpiSend", message["src"], message["send_tid"], message["send_start"], message["dst"],
                     message["bytes"] or 0, frozen(notes | {"peer": message["dst"]})))
        rows.append(("MpiRecv", message["dst"], message["recv_tid"], received, message["src"],
                     message["bytes"] or 0, frozen(notes | {"peer": message["src"]})))
    return rows


def check_messages(archive, events):
    rows = []
    for event, process, thread, time, notes in archive.messages:
        rank = event.receiver if isinstance(event, MpiSend) else event.sender
        rows.append((type(event).__name__, process, thread, time, archive.ranks[rank], event.msg_length,
                     frozen(notes)))
        if ("outside MPI" in event.communicator.name) != ("function" not in notes):
            complain(f"message {notes['message']}: of {event.communicator.name}")
    compare("messages", rows, expected_messages(events))


def check_matching(archive):
    """Tools match by order: the first send of a pair, communicator and tag is the first receive's."""
    under_way, wrong = defaultdict(deque), 0
    for event, process, _, _, notes in archive.messages:
        if isinstance(event, MpiSend):
            under_way[process, archive.ranks[event.receiver], event.communicator.name, event.msg_tag].append(
                notes["message"])
    for event, process, _, _, notes in archive.messages:
        if isinstance(event, MpiRecv):
            queue = under_way[archive.ranks[event.sender], process, event.communicator.name, event.msg_tag]
            if not queue:
                complain(f"message {notes['message']} was received with another tag than it was sent with")
            wrong += queue.popleft() != notes["message"]
    return wrong


def check_gpus(archive, events):
    gpus = [(archive.hosts[node], name.split(":")[0],
             *(archive.of_node[node, name.replace("pci", what)] for what in ("pci", "model", "used by")))
            for node, name in archive.of_node if name.endswith(": pci")]
    compare("GPUs", gpus, expected_gpus(events))


def check_collectives(archive, events):
    several = archive.properties["all hosts", "captures: all"] > len(archive.nodes) - 1
    told, reasons = expected_collectives(events, several)
    compare("collectives", archive.collectives, told)
    compare("why not", {name.split(": ", 1)[1]: value for (_, name), value in archive.properties.items()
                        if name.startswith("collectives: ")}.items(), reasons.items())


def check_programs(archive, events):
    """Each process's time has its program around it, unless calls may be missing."""
    missing, summed, lives = why_calls_are_missing(events), {e["process"] for e in events["calls"]}, lives_of(events)
    rows, reasons = [], Counter()
    for process in events["process"]:
        reason = (missing or (process["id"] in summed and "calls are known by their sums alone") or
                  (process["id"] not in lives and "nothing was seen of it"))
        reasons[reason or "told"] += 1
        if not reason:
            rows.append((process["id"], process["comm"] or "unknown", *lives[process["id"]]))
    compare("programs", archive.programs, rows)
    compare("why no program", {name.split(": ", 1)[1]: value for (_, name), value in archive.properties.items()
                               if name.startswith("programs: ")}.items(), ({"told": 0} | reasons).items())


def check_totals(archive, events):
    rows = {tuple(name.split(": ", 1)): value for (node, name), value in archive.properties.items()
            if node == "all hosts" and ": " in name and not name.startswith(("collectives: ", "programs: "))}
    for ignored in (("loss", "damaged_bytes"), ("captures", "all")):
        rows.pop(ignored, None)
    compare("totals", rows.items(), totals_of(events).items())
    heading = archive.properties["all hosts", "ucxbpf"]
    if rows.get(("captures", "counted")) and "--count" not in heading:
        complain(f"made with --count, and the heading is: {heading}")
    clocks = {clock["host"]: clock for clock in events["clock"]}
    for node, host in archive.hosts.items():
        if archive.of_node.get((node, "clock offset is")) == FITTED:
            check_fitted(archive, events, host)
        elif host in clocks and archive.offsets[node] != clocks[host]["real"] - clocks[host]["mono"]:
            complain(f"{node}: clock offset {archive.offsets[node]}")


def check_order(archive, events):
    """Processes by rank, hosts by their first process; locations and ranks of communicators likewise."""
    order = rank_order(events)
    got = [archive.ids[group] for group in archive.groups if group in archive.ids]
    if got != order:
        complain(f"processes are in the order {got}")
    if archive.ranks[:len(order)] != order:
        complain(f"ranks of communicators are {archive.ranks}")
    if (nodes := [archive.hosts[node] for node in archive.nodes[1:]])[:len(hosts := host_order(events))] != hosts:
        complain(f"hosts are in the order {nodes}")
    places = [archive.groups.index(location.group) for location in archive.locations]
    if places != sorted(places):
        complain("locations are not in the order of their processes")
    for group, first in {location.group: location for location in reversed(archive.locations)}.items():
        if group in archive.ids and (first.name, first._ref & 0xffffffff) != ("MPI", archive.groups.index(group)):
            complain(f"{group}: its first location is {first.name}, number {first._ref}")


def check_fitted(archive, events, host):
    """No message between this host and the first one arrives before it is sent."""
    hosts = {process["id"]: process["host"] for process in events["process"]}
    offset = {host: archive.offsets[node] for node, host in archive.hosts.items() if host is not None}
    seen, early = 0, 0
    for message in events["message"]:
        if message["src"] is None or message["dst"] is None or not message["send_start"] or not message["arrival"]:
            continue
        src, dst = hosts[message["src"]], hosts[message["dst"]]
        if host in (src, dst) and src != dst:
            seen += 1
            early += message["arrival"] + offset[dst] + SLACK < message["send_start"] + offset[src]
    if not seen or early:
        complain(f"host {host}: fitted, and {early} of {seen} messages arrive before they are sent")


def check(archive, events):
    spans, sums = expected_spans(events)
    compare("spans", archive.spans, at_all_ends(without_message(spans)))
    compare("sums", archive.sums, sums)
    compare("windows", archive.windows, [(e["from"], e["to"], window_name(e)) for e in events["window"]])
    check_messages(archive, events)
    wrong = check_matching(archive)
    if wrong:
        complain(f"{wrong} of {len(events['message'])} messages would be matched with others by their order")
    check_collectives(archive, events)
    check_programs(archive, events)
    check_order(archive, events)
    check_gpus(archive, events)
    check_totals(archive, events)


def check_pair(path, events_path):
    events = read_events(events_path)
    check(Archive(path, events), events)


for_each_pair(check_pair)
