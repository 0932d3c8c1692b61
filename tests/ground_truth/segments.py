"""A RawProcess written as a drainer that rolls up would have: small chunks, in many files."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from ground_truth.raw import RawProcess
from ground_truth.written import ItemWriter, end_record, log_records, open_writer, write_end
from rlscope import _trace

_HEADER = struct.Struct("<IIIHH")
_PROCESS, _END = 1, 9


def write_segments(
    process: RawProcess, directory: Path, *, chunk: int, cuts: Sequence[int]
) -> Callable[[], None]:
    """Writes a process that still runs, without CUDA. Returns what ends it.

    chunk: items of a chunk. cuts: after how many frames the file is another one.
    """
    (directory / "trace").mkdir(parents=True)
    (directory / "run.json").write_text("{}\n")
    (directory / "processes.log").write_bytes(b"".join(log_records(process)))
    whole = directory / "whole"
    content, lost = _write_whole(process, whole, chunk)
    whole.unlink()
    frames = [content[begin:end] for begin, end in _frames(content) if begin not in lost]
    begins = [frame for frame in frames if _type_of(frame) == _PROCESS]
    rest = [frame for frame in frames if _type_of(frame) not in (_PROCESS, _END)]
    ends = [frame for frame in frames if _type_of(frame) == _END]
    places = sorted({min(cut, len(rest)) for cut in cuts} | {len(rest)})
    for number, (first, last) in enumerate(zip([0, *places], places, strict=False)):
        closed = [] if last == len(rest) else [_closed_frame()]
        path = directory / "trace" / f"host.{process.os_pid}.1.{number}.rls"
        path.write_bytes(b"".join([*begins, *rest[first:last], *closed]))

    def end() -> None:
        with open(directory / "processes.log", "ab") as log:
            log.write(end_record(process))
        path = directory / "trace" / f"host.{process.os_pid}.1.99999.rls"
        path.write_bytes(b"".join([*begins, *ends]))

    return end


def _write_whole(process: RawProcess, path: Path, chunk: int) -> tuple[bytes, set[int]]:
    """The chunks of all threads in the order of time; at which bytes those begin that are lost."""
    writer = open_writer(process, path)
    items = ItemWriter(writer, process)
    pieces = []
    for number, thread in process.numbered():
        first, last = thread.missing or (0, 0)
        places = sorted({*range(0, len(thread.items), chunk), first, last, len(thread.items)})
        for begin, end in pairwise(places):
            time_ns = max(item.time_ns for item in thread.items[:end])
            pieces.append((time_ns, number, begin, end, first <= begin < last))
    lost = set()
    for _, number, begin, end, is_lost in sorted(pieces):
        names = items.names(number, begin, end)
        if is_lost:
            lost.add(path.stat().st_size)
        items.write(number, begin, end, names)
    write_end(process, writer)
    writer.close()
    return path.read_bytes(), lost


def _frames(content: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(content):
        end = at + _HEADER.size + _HEADER.unpack_from(content, at)[1]
        yield at, end
        at = end


def _type_of(frame: bytes) -> int:
    return int(_HEADER.unpack_from(frame)[3])


def _closed_frame() -> bytes:
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        path = Path(folder) / "closed"
        writer = _trace.Writer(str(path), os_pid=1, began_ns=1)
        writer.close_for_next()
        writer.close()
        content = path.read_bytes()
    *_, (begin, end) = _frames(content)
    return content[begin:end]
