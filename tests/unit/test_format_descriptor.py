"""The trace format as an outsider reads it: through the descriptor set that is installed.

Message classes are made from `rlscope/trace_descriptor.bin` at run time, by the protobuf package
that happens to be there; no code of ours takes part in the decoding.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from rlscope import _trace

ROOT = Path(__file__).parents[2]
PROTO = ROOT / "csrc/trace/format/trace.proto"
DESCRIPTOR = ROOT / "rlscope/trace_descriptor.bin"
FRAME = struct.Struct("<IIIHH")
MAGIC = int.from_bytes(b"RLSF", "little")
MESSAGES = {
    1: "ProcessChunk",
    2: "NameChunk",
    3: "ThreadChunk",
    4: "ClockChunk",
    5: "CpuChunk",
    6: "CudaCallChunk",
    7: "GpuChunk",
    8: "MetadataChunk",
    9: "EndChunk",
    10: "RolledUpChunk",
    11: "ClosedChunk",
    12: "StatesChunk",
    13: "StacksChunk",
}
# Kinds of csrc/trace/layout/record.h.
ENTER, EXIT, PHASE, PROGRESS_TOTAL, PROGRESS_DONE, CALL = 1, 2, 3, 6, 7, 15


def descriptor_set() -> Any:
    return descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTOR.read_bytes())


@pytest.fixture(scope="module")
def messages() -> dict[str, Any]:
    """Message classes by name, made from the descriptor set."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_set().file:
        pool.AddSerializedFile(file.SerializeToString())
    factory: Any = message_factory
    make = getattr(factory, "GetMessageClass", None)
    if make is None:  # protobuf 4.21
        make = factory.MessageFactory(pool).GetPrototype
    return {
        name: make(pool.FindMessageTypeByName(f"rlscope.trace.{name}"))
        for name in MESSAGES.values()
    }


def crc32c(data: bytes) -> int:
    """Bit by bit, from the polynomial."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def read_frames(path: Path, messages: dict[str, Any]) -> list[tuple[str, Any]]:
    """(message name, message) of every frame; checks magic, version and checksum of each."""
    data = path.read_bytes()
    frames, at = [], 0
    while at < len(data):
        magic, length, crc, kind, version = FRAME.unpack_from(data, at)
        payload = data[at + FRAME.size : at + FRAME.size + length]
        assert (magic, version, len(payload)) == (MAGIC, _trace.FORMAT_VERSION, length)
        assert crc32c(data[at + 12 : at + 16] + payload) == crc
        frames.append((MESSAGES[kind], messages[MESSAGES[kind]].FromString(payload)))
        at += FRAME.size + length
    return frames


def indexes(chunk: Any) -> list[int]:
    """Dictionary indexes of the even steps, those that were guessed too."""
    if not chunk.guessed:
        return list(chunk.what)
    given, found, last, context = iter(chunk.what), [], [0] * 4096, 0
    for number in range(sum(step % 2 == 0 for step in chunk.step)):
        guessed = chunk.guessed[number // 8] >> number % 8 & 1
        index = last[context] if guessed else next(given)
        last[context] = index
        context = (4 * context + index) % 4096
        found.append(index)
    assert list(given) == []
    return found


def decode_process_items(chunk: Any) -> list[tuple[int, int, int, int]]:
    """(ticks, kind, id, value)"""
    ticks, values, items = chunk.base_ticks, iter(chunk.process_value), []
    for step, what in zip(chunk.process_step, chunk.process_what, strict=True):
        ticks += step
        kind = what & 31
        value = next(values) if kind in (PROGRESS_TOTAL, PROGRESS_DONE) else 0
        items.append((ticks, kind, what >> 5, value))
    assert list(values) == []
    return items


def decode_items(chunk: Any) -> list[tuple[int, int, int, int]]:
    """(ticks, kind, id, duration or value) of a CpuChunk, as trace.proto's comment says."""
    whats, durations, values = iter(indexes(chunk)), iter(chunk.duration), iter(chunk.value)
    end, items = chunk.base_ticks, []
    for step in chunk.step:
        ticks = end = end + (step >> 1)
        if step & 1:
            items.append((ticks, EXIT, 0, 0))
            continue
        entry = chunk.dictionary[next(whats)]
        kind, number, extra = entry & 31, entry >> 5, 0
        if kind == CALL:
            extra = next(durations)
            end += extra
        elif kind in (6, 7, 13, 14):
            extra = next(values)
        items.append((ticks, kind, number, extra))
    assert [*whats, *durations, *values] == []
    assert end == chunk.last_ticks
    return items


ITEMS = [  # ticks, kind, name ("" none), duration, value; the exit of the inner one first
    (1000, ENTER, "training", 0, 0),
    (1100, PHASE, "collect", 0, 0),
    (1200, ENTER, "inference", 0, 0),
    (1300, CALL, "torch:linear", 250, 0),
    (2000, EXIT, "inference", 0, 0),
    (2100, PROGRESS_DONE, "", 0, 77),
    (5_000_000, EXIT, "training", 0, 0),
]


FUNCTIONS = [("a.py", "main", 1), ("b.py", "Net.forward", 40)]
NODES = [(0, 1, 9), (1, 2, 41)]  # parent, function, line


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """One file with a frame of every type."""
    path = tmp_path / "box.4242.99.0.rls"
    writer = _trace.Writer(
        str(path),
        os_pid=4242,
        began_ns=-5,
        start_time=99,
        host="box",
        boot_id="b00t",
        main_thread=4242,
        clock_pairs=[(1000, 500), (3000, 1500)],
    )
    ids = {
        "": 0,
        "training": writer.name(1, "training"),
        "collect": writer.name(2, "collect"),
        "inference": writer.name(1, "inference"),
        "torch:linear": writer.name(3, "torch:linear", 3),
    }
    writer.thread(1, 4243, "worker", False)
    writer.metadata({"lr": "0.1"}, process_name="ppo", program="train.py", python="3.11")
    ticks, kinds, names, durations, values = zip(*ITEMS, strict=True)
    writer.items(
        1,
        np.array(ticks, np.int64),
        np.array(kinds, np.uint32),
        np.array([ids[name] for name in names], np.uint32),
        np.array(durations, np.int64),
        np.array(values, np.uint64),
    )
    writer.cuda_calls(
        1,
        np.array([1300, 1700], np.int64),
        np.array([50, 60], np.int64),
        np.array([4, 4], np.uint32),
        np.array([900, 7], np.int64),
    )
    writer.gpu(
        0,
        1,
        7,
        np.array([600, 650], np.int64),
        np.array([100, 10], np.int64),
        np.array([1, 2], np.uint32),
        np.array([4, 4], np.uint32),
        np.array([900, 7], np.int64),
        np.array([0, 4096], np.int64),
    )
    writer.stacks(FUNCTIONS, NODES)
    writer.states([(700, [1, 3], {1: 2}), (900, [], {})])
    writer.end(9000, exited=True, python_begin_ns=100, python_end_ns=8000, losses={"names": 3})
    writer.close()
    return path


def test_every_field_of_a_written_file(written: Path, messages: dict[str, Any]) -> None:
    frames = read_frames(written, messages)
    chunks = {name: chunk for name, chunk in frames if name != "NameChunk"}
    of_roll_ups = {"RolledUpChunk", "ClosedChunk"}
    assert set(chunks) | {"NameChunk"} == set(MESSAGES.values()) - of_roll_ups

    process = chunks["ProcessChunk"]
    assert (process.format_version, process.host, process.boot_id) == (2, "box", "b00t")
    assert (process.os_pid, process.start_time, process.began_ns) == (4242, 99, -5)
    assert (process.clock, process.tick_hz, process.main_thread) == (1, 10**9, 4242)
    assert process.tick_shift == 0
    assert list(chunks["ClockChunk"].ticks) == [1000, 3000]
    assert list(chunks["ClockChunk"].ns) == [500, 1500]

    names = [name for kind, chunk in frames if kind == "NameChunk" for name in chunk.name]
    by_text = {name.text: name.id for name in names}
    assert [(name.text, name.kind, name.layer) for name in names] == [
        ("training", 1, 0),
        ("collect", 2, 0),
        ("inference", 1, 0),
        ("torch:linear", 3, 3),
    ]
    (thread,) = chunks["ThreadChunk"].thread
    assert (thread.thread, thread.os_tid, thread.name) == (1, 4243, "worker")
    assert not thread.is_python

    metadata = chunks["MetadataChunk"]
    assert [(entry.key, entry.value) for entry in metadata.entry] == [("lr", "0.1")]
    assert (metadata.process_name, metadata.program, metadata.python) == ("ppo", "train.py", "3.11")

    states = [chunk for kind, chunk in frames if kind == "StatesChunk"]
    assert [(each.base_ns, list(each.step), list(each.awake)) for each in states] == [
        (700, [0], [2, 1, 3]),
        (900, [0], [0]),
    ]
    assert [list(each.stacks) for each in states] == [[1, 1, 2], []]

    stacks = chunks["StacksChunk"]
    assert [(each.file, each.name, each.line) for each in stacks.function] == FUNCTIONS
    nodes = zip(stacks.parent, stacks.called, stacks.line, strict=True)
    assert (stacks.first_function, stacks.first_node, list(nodes)) == (1, 1, NODES)

    end = chunks["EndChunk"]
    assert (end.end_ns, end.exited, end.forks) == (9000, True, 0)
    assert (end.python_begin_ns, end.python_end_ns) == (100, 8000)
    assert [(loss.kind, loss.count) for loss in end.loss] == [("names", 3)]

    cpu = chunks["CpuChunk"]
    assert (cpu.thread, cpu.first_slot, cpu.count, cpu.task) == (1, 0, len(ITEMS), 0)
    assert (cpu.slots, cpu.events, len(cpu.open)) == (len(ITEMS) + 1, 3, 0)
    # An exit of the innermost operation has no name in the file: 0.
    assert decode_items(cpu) == [
        (ticks, kind, 0 if kind == EXIT else by_text.get(name, 0), duration or value)
        for ticks, kind, name, duration, value in ITEMS
    ]
    assert decode_process_items(cpu) == [
        (1100, PHASE, by_text["collect"], 0),
        (2100, PROGRESS_DONE, 0, 77),
    ]


def test_what_repeats_is_guessed(tmp_path: Path, messages: dict[str, Any]) -> None:
    path = tmp_path / "box.4242.99.0.rls"
    writer = _trace.Writer(str(path), os_pid=4242, began_ns=1)
    names = [writer.name(1, name) for name in ("act", "step", "learn", "save")]
    loop = [names[0], names[1]] * 5 + [names[2]] + [names[3]]
    ids = np.array(loop * 20, np.uint32)
    kinds = np.full(2 * len(ids), ENTER, np.uint32)
    kinds[1::2] = EXIT
    writer.items(1, np.arange(len(kinds), dtype=np.int64), kinds, np.repeat(ids, 2))
    writer.end(10**6)
    writer.close()
    (cpu,) = [chunk for name, chunk in read_frames(path, messages) if name == "CpuChunk"]
    assert len(cpu.what) < len(ids) / 4
    entered = [name for _, kind, name, _ in decode_items(cpu) if kind == ENTER]
    assert entered == ids.tolist()


def test_intervals_of_a_written_file(written: Path, messages: dict[str, Any]) -> None:
    chunks = dict(read_frames(written, messages))
    calls = chunks["CudaCallChunk"]
    assert (calls.thread, calls.count, calls.base_ticks, calls.last_ticks) == (1, 2, 1300, 1760)
    assert list(calls.step) == [0, 350]
    assert list(calls.duration) == [50, 60]
    assert list(calls.name) == [4, 4]
    assert list(calls.correlation) == [900, 7 - 900]
    assert (list(calls.status), list(calls.context)) == ([], [])
    gpu = chunks["GpuChunk"]
    assert (gpu.device, gpu.context, gpu.stream, gpu.count) == (0, 1, 7, 2)
    assert (gpu.min_start_ns, gpu.max_end_ns) == (600, 700)
    assert list(gpu.step) == [0, 650 - 700]
    assert list(gpu.duration) == [100, 10]
    assert list(gpu.kind) == [1, 2]
    assert list(gpu.correlation) == [900, 7 - 900]
    assert list(gpu.bytes) == [0, 4096]


def proto_fields(text: str) -> set[tuple[str, str, bool, str, int]]:
    """(message, field, repeated, type, number) of every field that a .proto text declares."""
    fields, path = set(), []
    token = re.compile(
        r"(message|enum)\s+(\w+)\s*\{|(\})|(repeated\s+)?([\w.]+)\s+(\w+)\s*=\s*(\d+)\s*;"
    )
    for match in token.finditer(re.sub(r"//[^\n]*", "", text)):
        opened, name, closed, repeated, kind, field, number = match.groups()
        if opened:
            path.append(name)
        elif closed:
            path.pop()
        elif kind != "option":
            fields.add((".".join(path), field, bool(repeated), kind, int(number)))
    return fields


def descriptor_fields(message: Any, prefix: str = "") -> set[tuple[str, str, bool, str, int]]:
    types = {
        number: name.removeprefix("TYPE_").lower()
        for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()
    }
    path = prefix + message.name
    fields = set()
    for field in message.field:
        kind = field.type_name.rpartition(".")[2] or types[field.type]
        fields.add((path, field.name, field.label == 3, kind, field.number))
    for nested in message.nested_type:
        fields |= descriptor_fields(nested, path + ".")
    return fields


def test_the_descriptor_is_the_one_of_the_proto_file() -> None:
    """After a change of trace.proto: protoc --descriptor_set_out=rlscope/trace_descriptor.bin
    -I csrc/trace/format csrc/trace/format/trace.proto"""
    (file,) = descriptor_set().file
    described = set()
    for message in file.message_type:
        described |= descriptor_fields(message)
    assert len(described) > 80
    assert described == proto_fields(PROTO.read_text())


def test_frame_types_are_those_of_the_proto_file() -> None:
    (file,) = descriptor_set().file
    types = next(enum for enum in file.enum_type if enum.name == "FrameType")
    assert {value.number for value in types.value if value.number} == set(MESSAGES)


def words_of(prefix: str) -> list[str]:
    """Names of an enumeration of the .proto text, by number."""
    found = re.findall(rf"\b{prefix}_(\w+) = (\d+);", PROTO.read_text())
    assert [int(number) for _, number in found] == list(range(len(found)))
    return [name.lower() for name, _ in found]


def test_kinds_and_layers_are_those_of_the_proto_file() -> None:
    assert [kind["name"] for kind in _trace.GPU_KINDS] == words_of("GPU")
    assert list(_trace.LAYERS) == words_of("LAYER")


def test_enumerations_of_the_descriptor_are_those_of_the_proto_file() -> None:
    (file,) = descriptor_set().file
    enums = [
        *file.enum_type,
        *(enum for message in file.message_type for enum in message.enum_type),
    ]
    described = {(value.name, value.number) for enum in enums for value in enum.value}
    text = re.sub(r"//[^\n]*", "", PROTO.read_text())
    written = re.findall(r"^\s*([A-Z]\w*) = (\d+);", text, re.MULTILINE)
    assert described == {(name, int(number)) for name, number in written}
