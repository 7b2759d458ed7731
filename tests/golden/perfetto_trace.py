# SPDX-License-Identifier: BSD-3-Clause
"""Reads a Perfetto trace as its importer would: words by sequence, slices by track, common clock."""
import functools
import importlib
import subprocess
import sys
import tempfile
from pathlib import Path

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
PROTO = Path(__file__).resolve().parents[2] / "user" / "show" / "export" / "perfetto.proto"


@functools.cache
def messages():
    """The module that protoc makes of our .proto."""
    with tempfile.TemporaryDirectory() as where:
        subprocess.run(["protoc", f"--proto_path={PROTO.parent}", f"--python_out={where}", PROTO.name],
                       check=True)
        sys.path.insert(0, where)
        return importlib.import_module("perfetto_pb2")


class Sequence:
    def __init__(self):
        self.words = {"event_categories": {}, "event_names": {}, "debug_annotation_names": {},
                      "debug_annotation_string_values": {}}
        self.clock = None  # id of the clock of its times
        self.offset = None  # to CLOCK_REALTIME; None: they are of it

    def learn(self, data):
        for kind, words in self.words.items():
            for word in getattr(data, kind):
                assert word.iid not in words, f"{kind} {word.iid} told twice"
                words[word.iid] = word.name

    def snapshot(self, snapshot):
        assert snapshot.primary_trace_clock == 1
        at = {clock.clock_id: clock.timestamp for clock in snapshot.clocks}
        if 64 in at:
            self.offset = at[1] - at[64]
            self.pair = (at[64], at[1])

    def notes(self, event):
        names, texts = self.words["debug_annotation_names"], self.words["debug_annotation_string_values"]
        notes = {}
        for note in event.debug_annotations:
            name = names[note.name_iid]
            assert name not in notes, f"{name} twice in one event"
            notes[name] = texts[note.string_value_iid] if note.string_value_iid else note.uint_value
        return notes


class Track:
    def __init__(self, descriptor, sequence):
        self.descriptor, self.sequence = descriptor, sequence
        self.slices, self.counts = [], []
        self.open = None


class Trace:
    def __init__(self, path):
        self.tracks, self.sequences, self.hosts = {}, {}, {}
        trace = messages().Trace()
        trace.ParseFromString(Path(path).read_bytes())
        for packet in trace.packet:
            self.packet(packet)
        for track in self.tracks.values():
            assert track.open is None, f"{track.descriptor.name}: a slice has no end"

    def packet(self, packet):
        number = packet.trusted_packet_sequence_id
        fresh = number not in self.sequences
        sequence = self.sequences.setdefault(number, Sequence())
        assert packet.sequence_flags == (1 if fresh else 2), "state that a reader would not have"
        sequence.learn(packet.interned_data)
        if packet.HasField("trace_packet_defaults"):
            sequence.clock = packet.trace_packet_defaults.timestamp_clock_id
        if packet.HasField("clock_snapshot"):
            sequence.snapshot(packet.clock_snapshot)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid and track.uuid not in self.tracks
            assert not track.parent_uuid or track.parent_uuid in self.tracks
            self.tracks[track.uuid] = Track(track, number)
        if packet.HasField("track_event"):
            self.event(packet, sequence, packet.track_event)

    def event(self, packet, sequence, event):
        track = self.tracks[event.track_uuid]
        assert sequence.clock == 1 or sequence.offset is not None
        if event.type == COUNTER:
            track.counts.append((packet.timestamp, event.double_counter_value))
        elif event.type == END:
            track.open.update(end=packet.timestamp, flows_in=list(event.flow_ids))
            assert track.open["end"] >= track.open["start"]
            track.open = None
        else:
            self.begin(packet, sequence, track, event)

    @staticmethod
    def begin(packet, sequence, track, event):
        assert track.open is None, f"{track.descriptor.name}: slices overlap"
        (category,) = event.category_iids
        slice_ = {
            "name": sequence.words["event_names"][event.name_iid],
            "category": sequence.words["event_categories"][category],
            "start": packet.timestamp, "end": None, "notes": sequence.notes(event),
            "flows_out": list(event.flow_ids), "flows_in": [],
        }
        last = track.slices[-1] if track.slices else None
        assert not last or packet.timestamp >= (last["end"] or last["start"]), "slices overlap"
        track.slices.append(slice_)
        if event.type == BEGIN:
            track.open = slice_

    def process_of(self, track):
        """The id of the process whose track is above this one; None: of no process."""
        while track and not track.descriptor.HasField("process"):
            track = self.tracks.get(track.descriptor.parent_uuid)
        return int(track.descriptor.process.process_labels[0].split()[1]) if track else None
