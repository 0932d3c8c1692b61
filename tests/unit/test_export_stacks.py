"""Stacks for other tools: collapsed lines by their rules, pprof's message read back by another
library, speedscope's file by the parts that its format has."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from support.files import example_run
from support.files.relation_rows import Relations
from support.files.report_rows import full_run

from rlscope.errors import RlscopeError
from rlscope.export.formats import collapsed, pprof, speedscope
from rlscope.export.window import Window
from rlscope.opening import Trace, load

WHOLE = Window(0, 1 << 62, 0, is_whole=True)
HOSTILE = "a;b\nc \x1b[31m"
# https://github.com/google/pprof/blob/main/proto/profile.proto: name, number, type, is repeated
_INT, _UINT, _TEXT = (
    descriptor_pb2.FieldDescriptorProto.TYPE_INT64,
    descriptor_pb2.FieldDescriptorProto.TYPE_UINT64,
    descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
)
MESSAGES: dict[str, list[tuple[str, int, Any, bool]]] = {
    "ValueType": [("type", 1, _INT, False), ("unit", 2, _INT, False)],
    "Label": [("key", 1, _INT, False), ("str", 2, _INT, False), ("num", 3, _INT, False)],
    "Sample": [("location_id", 1, _UINT, True), ("value", 2, _INT, True),
               ("label", 3, "Label", True)],
    "Line": [("function_id", 1, _UINT, False), ("line", 2, _INT, False)],
    "Location": [("id", 1, _UINT, False), ("line", 4, "Line", True)],
    "Function": [("id", 1, _UINT, False), ("name", 2, _INT, False), ("system_name", 3, _INT, False),
                 ("filename", 4, _INT, False), ("start_line", 5, _INT, False)],
    "Profile": [("sample_type", 1, "ValueType", True), ("sample", 2, "Sample", True),
                ("location", 4, "Location", True), ("function", 5, "Function", True),
                ("string_table", 6, _TEXT, True), ("duration_nanos", 10, _INT, False)],
}  # fmt: skip


def profile_class() -> Any:
    """The official library's class for the message."""
    file = descriptor_pb2.FileDescriptorProto(name="p.proto", package="p", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            added = message.field.add(name=field, number=number, label=3 if repeated else 1)
            if isinstance(kind, str):
                added.type, added.type_name = 11, f".p.{kind}"
            else:
                added.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p.Profile"))


def exported(exporter: Any, trace: Relations | Trace, folder: Path) -> bytes:
    path = folder / f"run{exporter.ending}"
    exporter.write(trace, WHOLE, path, force=False, tell=lambda _: None)
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def times(trace: Relations | Trace) -> list[tuple[Any, ...]]:
    return list(
        trace.sql(
            "SELECT process_id, stack_id, stage, operation, layer, self_ns FROM stack_time"
            " WHERE self_ns > 0"
        )
    )


def expected(trace: Relations | Trace) -> dict[tuple[Any, ...], int]:
    """Time by process, (function, file, line) from the innermost call on, and state."""
    stacks = {(row["process_id"], row["stack_id"]): row for row in trace.table("stack").to_dicts()}
    names = {
        row["process_id"]: f"{row['name']} ({row['os_pid']})"
        for row in trace.table("process").to_dicts()
    }
    sums: dict[tuple[Any, ...], int] = {}
    for process_id, stack_id, *state, ns in times(trace):
        calls = []
        while stack_id is not None:
            row = stacks[process_id, stack_id]
            calls.append((row["function"], row["file"], row["line"]))
            stack_id = row["parent_id"]
        calls = calls or [("(stack not known)", "", 0)]
        key = (*calls, (names[process_id], "", 0), *state)
        sums[key] = sums.get(key, 0) + ns
    return sums


@pytest.mark.parametrize("name", ["trainer", HOSTILE])
def test_pprof_has_the_time_of_every_stack(name: str, tmp_path: Path):
    trace = full_run(name=name, stacks=40)
    profile = profile_class().FromString(exported(pprof.EXPORTER, trace, tmp_path))
    texts = profile.string_table
    assert texts[0] == ""
    (kind,) = profile.sample_type
    assert (texts[kind.type], texts[kind.unit]) == ("time", "nanoseconds")
    functions = {each.id: each for each in profile.function}
    places = {}
    for location in profile.location:
        (line,) = location.line
        function = functions[line.function_id]
        places[location.id] = (texts[function.name], texts[function.filename], line.line)
    found: dict[tuple[Any, ...], int] = {}
    for sample in profile.sample:
        labels = {texts[each.key]: texts[each.str] for each in sample.label}
        state = (labels["stage"], labels["operation"], labels["layer"])
        found[(*map(places.get, sample.location_id), *state)] = sample.value[0]
    assert found == expected(trace)


def test_collapsed_lines_add_up_to_the_run(tmp_path: Path):
    trace = full_run(stacks=40)
    lines = exported(collapsed.EXPORTER, trace, tmp_path).decode().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == sum(ns for *_, ns in times(trace))
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines)
    assert dict(map(_collapsed, lines)) == {
        tuple(map(_call, reversed(calls))): ns for calls, ns in _by_calls(trace).items()
    }
    assert any(line.startswith("trainer (100);<module> (/home/me/trainer/train.py:9);trainer.update"
                               " (/home/me/trainer/") for line in lines)  # fmt: skip


def _collapsed(line: str) -> tuple[tuple[str, ...], int]:
    """As flamegraph.pl reads it: calls between semicolons, a blank, a whole number."""
    calls, blank, number = line.rpartition(" ")
    assert calls and blank and number.isdecimal()
    return tuple(calls.split(";")), int(number)


def _call(call: tuple[str, str, int]) -> str:
    function, file, line = call
    return f"{function} ({file}:{line})" if file else function


def _by_calls(trace: Relations | Trace) -> dict[tuple[Any, ...], int]:
    """`expected` without states."""
    sums: dict[tuple[Any, ...], int] = {}
    for (*calls, _stage, _operation, _layer), ns in expected(trace).items():
        sums[tuple(calls)] = sums.get(tuple(calls), 0) + ns
    return sums


def test_a_name_cannot_make_another_call_or_line(tmp_path: Path):
    depth = max(len(each) - 3 for each in expected(full_run(stacks=40)))
    trace = full_run(name=HOSTILE, stacks=40)
    lines = exported(collapsed.EXPORTER, trace, tmp_path).decode().split("\n")
    assert all(line.count(";") < depth and "\x1b" not in line for line in lines)
    assert all(line.rpartition(" ")[2].isdigit() for line in lines[:-1])


@pytest.mark.parametrize("exporter", [collapsed.EXPORTER, pprof.EXPORTER])
def test_a_run_without_stacks_and_a_part_of_a_run_are_refused(exporter: Any, tmp_path: Path):
    path = tmp_path / "out"
    with pytest.raises(RlscopeError, match="no stacks"):
        exporter.write(Relations(), WHOLE, path, force=False, tell=lambda _: None)
    part = Window(5, 9, 0, is_whole=False)
    with pytest.raises(RlscopeError, match="whole run"):
        exporter.write(full_run(), part, path, force=False, tell=lambda _: None)
    assert not path.exists()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trace]:
    folder = tmp_path_factory.mktemp("run") / "ppo"
    example_run.write(folder)
    with load(folder) as trace:
        yield trace


@pytest.fixture(scope="module")
def document(recorded: Trace, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    content = exported(speedscope.EXPORTER, recorded, tmp_path_factory.mktemp("out"))
    found: dict[str, Any] = json.loads(content)
    return found


def test_speedscope_gets_the_parts_of_its_format(document: dict[str, Any]) -> None:
    """As https://www.speedscope.app/file-format-schema.json has them."""
    frames = document["shared"]["frames"]
    assert all(isinstance(frame["name"], str) for frame in frames)
    assert all(frame.keys() <= {"name", "file", "line", "col"} for frame in frames)
    sampled = [each for each in document["profiles"] if each["type"] == "sampled"]
    assert sampled and len(sampled) < len(document["profiles"])
    for profile in sampled:
        assert profile.keys() == {
            "type", "name", "unit", "startValue", "endValue", "samples", "weights",
        }  # fmt: skip
        assert profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"])
        places = {place for sample in profile["samples"] for place in sample}
        assert min(places) >= 0 and max(places) < len(frames)


def test_speedscope_has_the_time_of_every_stack(document: dict[str, Any], recorded: Trace) -> None:
    """The sum of a profile is the time of its process, to the nanosecond."""
    frames = [
        (each["name"], each.get("file", ""), each.get("line", 0))
        for each in document["shared"]["frames"]
    ]
    found: dict[tuple[Any, ...], int] = {}
    sums = {}
    for profile in document["profiles"]:
        if profile["type"] == "sampled":
            process, ending, _ = profile["name"].rpartition(": stacks")
            assert ending and profile["unit"] == "nanoseconds"
            for stack, ns in zip(profile["samples"], profile["weights"], strict=True):
                calls = [*(frames[place] for place in reversed(stack)), (process, "", 0)]
                assert tuple(calls) not in found
                found[tuple(calls)] = ns
            sums[process] = sum(profile["weights"])
            assert profile["endValue"] - profile["startValue"] == sums[process]
    assert found == _by_calls(recorded)
    assert sums == dict(
        recorded.sql(
            "SELECT format('{} ({})', name, os_pid), CAST(SUM(duration_ns) AS BIGINT)"
            " FROM breakdown JOIN process USING (process_id)"
            " WHERE process_id IN (SELECT process_id FROM stack_time) GROUP BY ALL"
        )
    )
