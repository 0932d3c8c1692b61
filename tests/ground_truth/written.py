"""A RawProcess written as a real trace directory, through the C++ writer.

Times on disk are shifted by ORIGIN_NS, because a trace knows no reading of a clock at 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ground_truth.raw import (
    NAMED,
    NAMED_STATE,
    WAIT_PROBE,
    GpuWork,
    Item,
    Kind,
    Name,
    RawProcess,
    RawThread,
)
from rlscope import _trace

ORIGIN_NS = 1 << 40
FILE = "a.py"
"""The file of all functions on stacks."""

BEGAN, FORKED, PYTHON, ENDED = 1, 2, 3, 4  # ProcessEvent of csrc/trace/layout/shared_pages.h


def write(processes: Iterable[RawProcess], directory: Path) -> None:
    """Writes the processes as a trace directory that `_trace.Directory` opens."""
    (directory / "trace").mkdir(parents=True)
    (directory / "run.json").write_text("{}\n")
    with open(directory / "processes.log", "wb") as log:
        for process in processes:
            log.write(b"".join([*log_records(process), end_record(process)]))
            number = 1 + len(list((directory / "trace").glob(f"host.{process.os_pid}.*")))
            name = f"host.{process.os_pid}.1.{number}.rls"
            _write_file(process, directory / "trace" / name)


def _on_disk(time_ns: int | None) -> int:
    return 0 if time_ns is None else time_ns + ORIGIN_NS


def log_records(process: RawProcess) -> list[bytes]:
    """What processes.log holds of a process that has not ended."""
    began = _on_disk(process.start_ns)
    first = FORKED if process.forked else BEGAN
    known = _identity(process)
    records = [_trace.process_record(first, time_ns=began, name="python", **known)]
    if process.python_begin_ns is not None:
        at = _on_disk(process.python_begin_ns)
        records.append(_trace.process_record(PYTHON, time_ns=at, name="3.11.7", **known))
    return records


def end_record(process: RawProcess) -> bytes:
    """What it holds of the end."""
    times = {
        "cpu_ns": process.cpu_ns,
        "profiler_cpu_ns": process.profiler_cpu_ns,
        "exit_flush_ns": process.exit_flush_ns,
    }
    return _trace.process_record(
        ENDED,
        time_ns=_on_disk(process.end_ns),
        python_end_ns=_on_disk(process.python_end_ns),
        **_identity(process),
        **times,
    )


def _identity(process: RawProcess) -> dict[str, Any]:
    return {
        "pid": process.os_pid,
        "parent_pid": process.parent_pid,
        "start_time": 1,
        "began_ns": _on_disk(process.start_ns),
    }


def open_writer(process: RawProcess, path: Path) -> _trace.Writer:
    """A new file of the process."""
    return _trace.Writer(
        str(path),
        os_pid=process.os_pid,
        began_ns=_on_disk(process.start_ns),
        start_time=1,
        host=process.host,
        main_thread=process.os_pid,
        windows=_windows(process),
    )


def write_end(process: RawProcess, writer: _trace.Writer) -> None:
    """The process's last chunk."""
    writer.end(
        _on_disk(process.end_ns),
        python_begin_ns=_on_disk(process.python_begin_ns),
        python_end_ns=_on_disk(process.python_end_ns),
    )


def _write_file(process: RawProcess, path: Path) -> None:
    writer = open_writer(process, path)
    if process.metadata or process.role or process.program:
        facts = {"process_name": process.role, "program": process.program}
        writer.metadata(process.metadata, **facts)
    items = ItemWriter(writer, process)
    for one, other in process.socket_pairs:
        layer = _trace.LAYERS.index("wait")
        writer.name(int(Name.FUNCTION), f"socketpair {one} {other}", layer)
    lost: list[tuple[int, int]] = []
    for number, thread in process.numbered():
        lost += _write_items(items, number, thread, path)
        _write_cuda_calls(writer, items.all_names, number, thread)
    _write_gpu(writer, items.all_names, process)
    write_stacks(process, writer)
    write_states(process, writer)
    write_end(process, writer)
    writer.close()
    content = path.read_bytes()
    for begin, end in reversed(lost):
        content = content[:begin] + content[end:]
    path.write_bytes(content)


def write_stacks(process: RawProcess, writer: _trace.Writer) -> None:
    """The nodes of all stacks, and their functions."""
    functions = sorted({node.function for node in process.nodes} - {""})
    numbers = {function: number for number, function in enumerate(functions, start=1)}
    unknown = len(functions) + 1
    tree = (
        [(FILE, function, 1) for function in functions],
        [(node.parent, numbers.get(node.function, unknown), node.line) for node in process.nodes],
    )
    writer.stacks(*tree)
    if any(call.site for thread in process.threads for call in thread.cuda_calls):
        writer.call_sites(*tree)


def write_states(process: RawProcess, writer: _trace.Writer) -> None:
    """The readings of the threads' states and stacks."""
    writer.states(
        [
            (_on_disk(time_ns), sorted(awake), process.stacks.get(time_ns, {}))
            for time_ns, awake in process.states
        ]
    )


def _windows(process: RawProcess) -> list[tuple[int, bool]]:
    """Changes of recording, of all threads, as they stand in the process's page."""
    changes = [
        (_on_disk(item.time_ns), item.kind is Kind.WINDOW_START)
        for thread in process.threads
        for item in thread.items
        if item.kind in (Kind.WINDOW_START, Kind.WINDOW_STOP)
    ]
    return sorted(changes, key=lambda change: change[0])


class _Names:
    """Ids of names, each written before its first use."""

    def __init__(self, writer: _trace.Writer, layers: Mapping[str, str]) -> None:
        self._writer = writer
        self._layers = layers
        self._ids: dict[tuple[Name, str], int] = {}

    def id(self, kind: Name, text: str) -> int:
        if (kind, text) not in self._ids:
            layer = _trace.LAYERS.index(self._layers[text]) if kind is Name.FUNCTION else 0
            self._ids[kind, text] = self._writer.name(int(kind), text, layer)
        return self._ids[kind, text]

    def of_item(self, item: Item) -> int:
        if item.kind is Kind.AUTO_SEGMENT and item.name:
            return NAMED_STATE + self.id(Name.OPERATION, item.name)
        if item.kind in (Kind.PROBE, Kind.PROBE_RECORD):
            return _PROBE_WAIT if item.name == WAIT_PROBE else 0
        if item.kind not in NAMED or (item.kind is Kind.PHASE and not item.name):
            return item.number
        return self.id(NAMED[item.kind], item.name)


_PROBE_WAIT = 5  # ProbeKind of csrc/trace/layout/record.h


class ItemWriter:
    """Writes pieces of the items of threads, each in a chunk of its own."""

    def __init__(self, writer: _trace.Writer, process: RawProcess) -> None:
        self._writer = writer
        self._threads = dict(process.numbered())
        self.all_names = _Names(writer, process.function_layers)
        for number, thread in process.numbered():
            os_tid = process.os_pid if thread.main else process.os_pid + number
            writer.thread(number, os_tid, name=f"thread {number}", is_python=thread.is_python)

    def names(self, thread: int, begin: int, end: int) -> list[int]:
        """Ids of the items' names; writes those that are new."""
        return [self.all_names.of_item(item) for item in self._threads[thread].items[begin:end]]

    def tell_open_wait(self, thread: int, place: int) -> None:
        """As a drainer that finds the wait open; its item is still to come."""
        item = self._threads[thread].items[place]
        function = self.all_names.of_item(item)
        self._writer.open_wait(thread, _on_disk(item.time_ns), function)

    def write(self, thread: int, begin: int, end: int, names: Sequence[int]) -> None:
        _write_chunk(self._writer, thread, self._threads[thread].items[begin:end], names)


def _write_items(
    items: ItemWriter, number: int, thread: RawThread, path: Path
) -> list[tuple[int, int]]:
    """Writes the items in chunks of their own where some are to be lost; which bytes those take."""
    first, last = thread.missing or (0, 0)
    names = items.names(number, 0, len(thread.items))
    lost = []
    for begin, end in ((0, first), (first, last), (last, len(names))):
        before = path.stat().st_size
        items.write(number, begin, end, names[begin:end])
        if begin == first and end == last:
            lost.append((before, path.stat().st_size))
    return lost


def _write_chunk(
    writer: _trace.Writer, number: int, items: Sequence[Item], ids: Sequence[int]
) -> None:
    if not items:
        return
    values = np.array([item.value for item in items], np.float64).view(np.uint64)
    counts = np.array([item.kind in (Kind.GAP, Kind.ROOM, Kind.SHORT_WAITS) for item in items])
    numbers = np.array([item.number for item in items], np.uint64)
    writer.items(
        number,
        np.array([_on_disk(item.time_ns) for item in items], np.int64),
        np.array([int(item.kind) for item in items], np.uint32),
        np.array(ids, np.uint32),
        np.array([_duration(item) for item in items], np.int64),
        np.where(counts, numbers, values),
    )


def _duration(item: Item) -> int:
    return item.number if item.kind in (Kind.PROBE, Kind.PROBE_RECORD) else item.duration_ns


def _write_cuda_calls(writer: _trace.Writer, names: _Names, number: int, thread: RawThread) -> None:
    calls = thread.cuda_calls
    if not calls:
        return
    writer.cuda_calls(
        number,
        np.array([_on_disk(call.start_ns) for call in calls], np.int64),
        np.array([call.end_ns - call.start_ns for call in calls], np.int64),
        np.array([names.id(Name.CUDA_CALL, call.name) for call in calls], np.uint32),
        np.array([call.correlation for call in calls], np.int64),
        np.array([call.status for call in calls], np.uint32),
        np.array([call.site for call in calls], np.uint32),
    )


def _write_gpu(writer: _trace.Writer, names: _Names, process: RawProcess) -> None:
    for device, context, stream in sorted({_stream(work) for work in process.gpu}):
        works = [work for work in process.gpu if _stream(work) == (device, context, stream)]
        works.sort(key=lambda work: work.start_ns)
        writer.gpu(
            device,
            context,
            stream,
            np.array([_on_disk(work.start_ns) for work in works], np.int64),
            np.array([work.end_ns - work.start_ns for work in works], np.int64),
            np.array([int(work.kind) for work in works], np.uint32),
            np.array([names.id(Name.KERNEL, work.name) for work in works], np.uint32),
            np.array([work.correlation for work in works], np.int64),
            np.array([work.size for work in works], np.int64),
            np.array([work.graph for work in works], np.uint32),
            np.array([work.how for work in works], np.uint32),
        )


def _stream(work: GpuWork) -> tuple[int, int, int]:
    return work.device, work.context, work.stream
