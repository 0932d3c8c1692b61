"""What was rolled up may come from a stranger: it can make numbers wrong, and nothing else."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.files.streamed_rows import known_operations, read_rows
from support.process.process_records import crc32c

from ground_truth.raw import (
    Auto,
    RawProcess,
    RawThread,
    call_begin,
    callback_begin,
    enter,
    iteration,
    leave,
    phase,
    segment,
    task,
)
from ground_truth.segments import write_segments
from ground_truth.written import ORIGIN_NS
from rlscope import _trace

_HEADER = struct.Struct("<IIIHH")
_ROLLED_UP = 10
# 20 ms of CPU time a byte.
_STEP = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 7

# Everything that can be open is open at 30.
_MAIN = [
    phase(1, "training"), iteration(2), enter(3, "train"), enter(4, "step"), leave(6, "step"),
    task(7, 5), enter(8, "step"), call_begin(9, "matmul"), callback_begin(12), iteration(20),
    enter(40, "later"), leave(41, "later"), iteration(45),
]  # fmt: skip
_WORKER = [call_begin(5, "matmul"), callback_begin(7), enter(50, "train"), leave(51, "train")]
_FOUND = [segment(3, Auto.INSIDE), segment(9, Auto.BETWEEN), segment(15, Auto.INSIDE),
          segment(48, Auto.SIMULATION)]  # fmt: skip
_PROCESS = RawProcess(
    end_ns=60,
    threads=[
        RawThread(_MAIN),
        RawThread(_WORKER, main=False),
        RawThread(_FOUND, main=False),
    ],
)


def frames(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Begin, end and type."""
    at = 0
    while at < len(content):
        _, length, _, kind, _ = _HEADER.unpack_from(content, at)
        yield at, at + _HEADER.size + length, kind
        at += _HEADER.size + length


@pytest.fixture(scope="module")
def rolled_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("rolled") / "trace"
    segments = write_segments(_PROCESS, directory, chunk=3, cuts=[6])
    _trace.roll_up(str(directory), 30 + ORIGIN_NS, least_saved=-(1 << 40), buckets=8)
    segments.end()
    return directory


def content_of(directory: Path) -> tuple[Path, bytes]:
    (path,) = (path for path in (directory / "trace").iterdir() if len(path.name) > 25)
    return path, path.read_bytes()


def read_sums(directory: Path) -> None:
    trace = _trace.Directory(str(directory))
    for process in trace.processes:
        trace.sweep(process["index"], buckets=8)
        trace.sweep(process["index"], buckets=0, by_thread=False, counts=False)
        trace.losses(process["index"])


def read_all(directory: Path) -> None:
    """Every pass over the process."""
    read_sums(directory)
    trace = _trace.Directory(str(directory))
    for process in trace.processes:
        index = process["index"]
        trace.cuda_relations(index)
        known = known_operations(trace, index)
        read_rows(trace.instance_rows(index, first_thread=0, operations=known))
        read_rows(trace.event_rows(index, first_thread=0, operations=known))


def test_what_was_rolled_up_is_read(rolled_up: Path) -> None:
    read_all(rolled_up)
    trace = _trace.Directory(str(rolled_up))
    assert [loss["kind"] for loss in trace.losses(0)] == ["rolled_up"]
    assert trace.problems == []


def test_any_byte_may_be_another_one(rolled_up: Path, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    shutil.copytree(rolled_up, directory)
    path, content = content_of(directory)
    begin, end, _ = next(frame for frame in frames(content) if frame[2] == _ROLLED_UP)
    assert end - begin > 300
    for at in range(begin + _HEADER.size, end, _STEP):
        changed = bytearray(content)
        changed[at] = (0, 0x7F, 0xFF, content[at] ^ 1, content[at] + 2 & 255)[at % 5]
        changed[begin + 8 : begin + 12] = crc32c(changed[begin + 12 : end]).to_bytes(4, "little")
        path.write_bytes(changed)
        # Rows of single intervals take ten times as long.
        read_all(directory) if at % 9 == 0 else read_sums(directory)


def test_a_piece_that_is_missing_costs_what_was_rolled_up(rolled_up: Path, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    shutil.copytree(rolled_up, directory)
    path, content = content_of(directory)
    begin, end, _ = next(frame for frame in frames(content) if frame[2] == _ROLLED_UP)
    path.write_bytes(content[:begin] + content[end:])
    read_all(directory)
    (problem,) = _trace.Directory(str(directory)).problems
    assert problem["what"] == "the sums of rolled-up records are damaged, or of another version"
