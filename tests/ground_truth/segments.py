"""A RawProcess written as a drainer that rolls up would have: small chunks, in many files."""

from __future__ import annotations

import struct
import tempfile
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from ground_truth.raw import OPEN_STATES, Auto, Item, Kind, RawProcess, RawThread, target_of
from ground_truth.written import (
    ItemWriter,
    end_record,
    log_records,
    open_writer,
    write_end,
    write_stacks,
    write_states,
)
from rlscope import _trace

_HEADER = struct.Struct("<IIIHH")
_PROCESS, _END = 1, 9
FOREVER = 1 << 60


class Segments:
    """The files of a process that still runs, without CUDA.

    chunk: items of a chunk. cuts: after how many frames the file is another one.
    """

    def __init__(
        self, process: RawProcess, directory: Path, *, chunk: int, cuts: Sequence[int]
    ) -> None:
        (directory / "trace").mkdir(parents=True)
        (directory / "run.json").write_text("{}\n")
        (directory / "processes.log").write_bytes(b"".join(log_records(process)))
        self._process, self._directory = process, directory
        whole = _Whole(process, directory / "whole", chunk)
        self._begins = whole.frames_of({_PROCESS})
        self._ends = whole.frames_of({_END})
        frames = [frame for frame in whole.frames if frame.kind not in (_PROCESS, _END)]
        places = sorted({min(cut, len(frames)) for cut in cuts} | {len(frames)})
        self._files = [frames[first:last] for first, last in pairwise([0, *places])]
        self._written = 0

    def write_next(self) -> int | None:
        """Writes one more file. Until when all is known by then; None: there is none left."""
        if self._written == len(self._files):
            return None
        frames = self._files[self._written]
        number, self._written = self._written, self._written + 1
        is_last = self._written == len(self._files)
        closed = b"" if is_last else _closed_frame()
        content = b"".join(frame.content for frame in frames)
        self._path(number).write_bytes(self._begins + content + closed)
        behind = [frame for file in self._files[self._written :] for frame in file]
        return behind[0].known_ns if behind else FOREVER

    def end(self) -> None:
        """The process ends."""
        with open(self._directory / "processes.log", "ab") as log:
            log.write(end_record(self._process))
        self._path(99999).write_bytes(self._begins + self._ends)

    def _path(self, number: int) -> Path:
        return self._directory / "trace" / f"host.{self._process.os_pid}.1.{number}.rls"


def write_segments(
    process: RawProcess, directory: Path, *, chunk: int, cuts: Sequence[int]
) -> Segments:
    """All files but the last one, which says how the process ended."""
    segments = Segments(process, directory, chunk=chunk, cuts=cuts)
    while segments.write_next() is not None:
        pass
    return segments


class _Frame:
    """`known_ns`: until when all is known from the frames before."""

    def __init__(self, content: bytes, known_ns: int) -> None:
        self.content, self.known_ns = content, known_ns
        self.kind = int(_HEADER.unpack_from(content)[3])


class _Whole:
    """The frames of one file with the chunks of all threads in the order of time."""

    def __init__(self, process: RawProcess, path: Path, chunk: int) -> None:
        self._threads = dict(process.numbered())
        self._layers = process.function_layers
        self._written = dict.fromkeys(self._threads, 0)
        self._told: set[tuple[int, int]] = set()
        self._known: list[tuple[int, int]] = []  # from this byte on; until when
        lost = self._write(process, path, chunk)
        content = path.read_bytes()
        path.unlink()
        self.frames = [
            _Frame(content[begin:end], self._known_at(begin))
            for begin, end in _frames(content)
            if begin not in lost
        ]

    def frames_of(self, kinds: set[int]) -> bytes:
        return b"".join(frame.content for frame in self.frames if frame.kind in kinds)

    def _write(self, process: RawProcess, path: Path, chunk: int) -> set[int]:
        """At which bytes the frames begin that are lost."""
        writer = open_writer(process, path)
        write_stacks(process, writer)
        items = ItemWriter(writer, process)
        lost = set()
        for time_ns, number, begin, end, is_lost in sorted(_pieces(process, chunk)):
            names = items.names(number, begin, end)
            if is_lost:
                lost.add(path.stat().st_size)
            items.write(number, begin, end, names)
            self._written[number] = end
            self._tell_open_waits(items, time_ns)
            known_ns = min((self._next_ns(each) for each in self._threads), default=FOREVER)
            self._known.append((path.stat().st_size, known_ns))
        write_states(process, writer)
        write_end(process, writer)
        writer.close()
        return lost

    def _known_at(self, byte: int) -> int:
        place = bisect_left(self._known, (byte + 1, 0))
        return self._known[place - 1][1] if place else -FOREVER

    def _tell_open_waits(self, items: ItemWriter, now_ns: int) -> None:
        for number, thread in self._threads.items():
            place = self._written[number]
            if (number, place) in self._told or not self._is_open_wait(thread, place, now_ns):
                continue
            self._told.add((number, place))
            items.tell_open_wait(number, place)

    def _is_open_wait(self, thread: RawThread, place: int, now_ns: int) -> bool:
        first, last = thread.missing or (-1, -1)
        if place == len(thread.items) or first <= place <= last:
            return False
        item = thread.items[place]
        is_wait = item.kind in (Kind.CALL, Kind.CALL_BEGIN) and self._layers[item.name] == "wait"
        ended_ns = max((each.end_ns for each in thread.items[:place]), default=item.time_ns)
        return is_wait and ended_ns <= item.time_ns <= now_ns

    def _next_ns(self, number: int) -> int:
        """When the thread does something that is not on disk, or begins a segment whose name is
        not there yet."""
        items, place = self._threads[number].items, self._written[number]
        unnamed_ns = _first_unnamed_ns(items, place)
        if (number, place) not in self._told:
            return min(unnamed_ns, items[place].time_ns if place < len(items) else FOREVER)
        return min(unnamed_ns, _end_of_wait(items, place))


def _first_unnamed_ns(items: Sequence[Item], place: int) -> int:
    """When the first segment began that a resolve from `place` on may name."""
    if all(item.kind is not Kind.AUTO_RESOLVE for item in items[place:]):
        return FOREVER
    begins: dict[int, int] = {}
    for item in items[:place]:
        if item.kind is Kind.AUTO_SEGMENT and item.number in OPEN_STATES:
            begins.setdefault(item.number, item.time_ns)
        elif item.kind is Kind.AUTO_RESOLVE:
            begins = _left_open(begins, item.number)
    return min(begins.values(), default=FOREVER)


def _left_open(begins: Mapping[int, int], resolve: int) -> dict[int, int]:
    left: dict[int, int] = {}
    for state, begin_ns in begins.items():
        target = target_of(resolve, Auto(state))
        if target in OPEN_STATES:
            left[target] = min(begin_ns, left.get(target, FOREVER))
    return left


def _end_of_wait(items: Sequence[Item], place: int) -> int:
    if items[place].kind is Kind.CALL:
        return items[place].end_ns
    return items[place + 1].time_ns if place + 1 < len(items) else FOREVER


def _pieces(process: RawProcess, chunk: int) -> Iterator[tuple[int, int, int, int, bool]]:
    """Time, thread, first and last item of each chunk, and whether it is lost."""
    for number, thread in process.numbered():
        first, last = thread.missing or (0, 0)
        places = sorted({*range(0, len(thread.items), chunk), first, last, len(thread.items)})
        for begin, end in pairwise(places):
            time_ns = max(item.time_ns for item in thread.items[:end])
            yield time_ns, number, begin, end, first <= begin < last


def _frames(content: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(content):
        end = at + _HEADER.size + _HEADER.unpack_from(content, at)[1]
        yield at, end
        at = end


def _closed_frame() -> bytes:
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        path = Path(folder) / "closed"
        writer = _trace.Writer(str(path), os_pid=1, began_ns=1)
        writer.close_for_next()
        writer.close()
        content = path.read_bytes()
    *_, (begin, end) = _frames(content)
    return content[begin:end]
