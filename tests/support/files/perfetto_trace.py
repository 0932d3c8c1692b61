"""Reads a Perfetto trace with the official messages, by the rules of Perfetto's trace_processor.

Times of a sequence are differences on its own clock, numbers of texts are those of its sequence,
and an end closes the innermost slice of its track. What breaks a rule fails an assertion.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("perfetto", reason="the official messages are not installed")
from itertools import pairwise

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

_BOOT_TIME = 6
_EVENT = proto.TrackEvent


@dataclass
class Slice:
    track: int
    name: str
    category: str
    start_ns: int
    end_ns: int | None
    depth: int
    arguments: dict[str, int | str]
    flows: tuple[int, ...]


@dataclass
class Content:
    """What a viewer shows."""

    processes: dict[int, Any] = field(default_factory=dict)
    """uuid -> ProcessDescriptor."""
    tracks: dict[int, Any] = field(default_factory=dict)
    """uuid -> TrackDescriptor, of processes and counters too."""
    slices: list[Slice] = field(default_factory=list)
    readings: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    """uuid of a counter -> time and value."""
    packets: int = 0

    def place(self, uuid: int) -> tuple[int, str]:
        """Number of the process, and name of the track; a further lane is its parent's."""
        track = self.tracks[uuid]
        if track.HasField("thread"):
            return track.thread.pid, track.thread.thread_name
        parent = self.tracks[track.parent_uuid]
        if parent.HasField("process"):
            return parent.process.pid, track.name
        return self.place(track.parent_uuid)

    def arrows(self) -> list[tuple[Slice, Slice]]:
        """From one slice of a flow to the next one, by time."""
        by_flow = defaultdict(list)
        for each in self.slices:
            for flow in each.flows:
                by_flow[flow].append(each)
        return [pair for chain in by_flow.values() for pair in pairwise(chain)]


class _Sequence:
    """The state of one packet sequence."""

    def __init__(self) -> None:
        self.clocks: dict[int, int] = {}
        self.clock = 0
        self.track = 0
        self.texts: dict[str, dict[int, str]] = {}
        self.is_valid = False


def read(path: Path) -> Content:
    """The content of a file, gzipped or not."""
    data = path.read_bytes()
    trace = proto.Trace()
    trace.ParseFromString(gzip.decompress(data) if path.suffix == ".gz" else data)
    size = trace.ByteSize()
    trace.DiscardUnknownFields()
    assert trace.ByteSize() == size, "a field that the official messages do not know"
    return _Reader().read(trace)


class _Reader:
    def __init__(self) -> None:
        self.content = Content()
        self.sequences: dict[int, _Sequence] = defaultdict(_Sequence)
        self.events: list[tuple[int, int, Any, _Sequence]] = []
        self.last_snapshot_ns = 0

    def read(self, trace: Any) -> Content:
        for packet in trace.packet:
            self._read_packet(packet)
        self.content.packets = len(trace.packet)
        # trace_processor sorts events by time, those of one time as they stand in the file.
        self.events.sort(key=lambda event: event[0])
        stacks: dict[int, list[Slice]] = defaultdict(list)
        for time_ns, track, event in self.events:
            self._read_event(time_ns, track, event, stacks[track])
        assert not any(stacks.values()), "a slice was never closed"
        return self.content

    def _read_packet(self, packet: Any) -> None:
        sequence = self.sequences[packet.trusted_packet_sequence_id]
        if packet.sequence_flags & 1:
            assert packet.first_packet_on_sequence
            self.sequences[packet.trusted_packet_sequence_id] = sequence = _Sequence()
            sequence.is_valid = True
        if packet.HasField("trace_packet_defaults"):
            sequence.clock = packet.trace_packet_defaults.timestamp_clock_id
            sequence.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
        if packet.HasField("clock_snapshot"):
            self._read_snapshot(packet.clock_snapshot, sequence)
        if packet.HasField("track_descriptor"):
            self._describe(packet.track_descriptor)
        if packet.HasField("track_event"):
            assert packet.HasField("timestamp")
            assert packet.sequence_flags & 2
            assert sequence.is_valid
            assert sequence.track in self.content.tracks, "the track is described later"
            self._learn(packet.interned_data, sequence)
            sequence.clocks[sequence.clock] += packet.timestamp
            time_ns = sequence.clocks[sequence.clock]
            self.events.append((time_ns, sequence.track, self._resolve(packet, sequence)))

    def _read_snapshot(self, snapshot: Any, sequence: _Sequence) -> None:
        for clock in snapshot.clocks:
            if clock.clock_id == _BOOT_TIME:
                assert clock.timestamp >= self.last_snapshot_ns, "the trace's clock goes back"
                self.last_snapshot_ns = clock.timestamp
            else:
                assert 64 <= clock.clock_id < 128
                assert clock.is_incremental
                sequence.clocks[clock.clock_id] = clock.timestamp
        (trace_ns,) = (each.timestamp for each in snapshot.clocks if each.clock_id == _BOOT_TIME)
        assert set(sequence.clocks.values()) == {trace_ns}, "the clocks differ"

    def _describe(self, descriptor: Any) -> None:
        assert descriptor.uuid not in self.content.tracks
        if descriptor.HasField("parent_uuid"):
            assert descriptor.parent_uuid in self.content.tracks
        self.content.tracks[descriptor.uuid] = descriptor
        if descriptor.HasField("process"):
            self.content.processes[descriptor.uuid] = descriptor.process
        if descriptor.HasField("counter"):
            self.content.readings[descriptor.uuid] = []

    def _learn(self, data: Any, sequence: _Sequence) -> None:
        for kind in ("event_categories", "event_names", "debug_annotation_names"):
            self._learn_one(kind, sequence, {each.iid: each.name for each in getattr(data, kind)})
        texts = {each.iid: each.str.decode() for each in data.debug_annotation_string_values}
        self._learn_one("texts", sequence, texts)

    @staticmethod
    def _learn_one(kind: str, sequence: _Sequence, new: dict[int, str]) -> None:
        known = sequence.texts.setdefault(kind, {})
        assert not known.keys() & new.keys(), "a text is told twice"
        assert 0 not in new
        known.update(new)

    def _resolve(self, packet: Any, sequence: _Sequence) -> dict[str, Any]:
        event, texts = packet.track_event, sequence.texts
        arguments: dict[str, int | str] = {}
        for each in event.debug_annotations:
            name = texts["debug_annotation_names"][each.name_iid]
            has_text = each.WhichOneof("value") == "string_value_iid"
            arguments[name] = texts["texts"][each.string_value_iid] if has_text else each.int_value
        return {
            "type": event.type,
            "name": texts["event_names"][event.name_iid] if event.name_iid else "",
            "categories": [texts["event_categories"][iid] for iid in event.category_iids],
            "arguments": arguments,
            "flows": tuple(event.flow_ids),
            "value": event.double_counter_value,
        }

    def _read_event(
        self, time_ns: int, track: int, event: dict[str, Any], stack: list[Slice]
    ) -> None:
        if event["type"] == _EVENT.TYPE_COUNTER:
            self.content.readings[track].append((time_ns, event["value"]))
        elif event["type"] == _EVENT.TYPE_SLICE_END:
            assert stack, "an end without a begin"
            stack.pop().end_ns = time_ns
        else:
            assert event["type"] == _EVENT.TYPE_SLICE_BEGIN
            (category,) = event["categories"]
            one = Slice(
                track,
                event["name"],
                category,
                time_ns,
                None,
                len(stack),
                event["arguments"],
                event["flows"],
            )
            self.content.slices.append(one)
            stack.append(one)
