"""The relation `event`: every recorded interval, made from the raw items of the files.

    item      begin f   begin cb  end cb   call g   end f        kinds of csrc/trace/record.h
    event     [---- callback: cb ----]     [-g-]
              [------------------ f -------------]

Native calls and callbacks of one thread nest, so an end belongs to the latest open begin. A begin
without an end lasts until the end of the thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import sqlalchemy as sa

from rlscope import _trace
from rlscope.trace.build import LAYERS, Sink, dense_ids
from rlscope.trace.store import event

# Kinds of csrc/trace/record.h.
_CALL, _CALL_BEGIN, _CALL_END, _CALLBACK_BEGIN, _CALLBACK_END = 15, 16, 17, 18, 19
# By number: GpuKind of csrc/trace/trace.proto.
_GPU_KINDS = np.array(
    ["gpu", "kernel", "memcpy", "memset", "graph", "sync", "overhead"], dtype=object
)
_GPU_LAYER = len(LAYERS) - 1
_CUDA_LAYER = _GPU_LAYER - 1
_PYTHON_LAYER = 1


def build_events(directory: _trace.Directory, sink: Sink) -> None:
    """Puts the events of every process into `sink`, one process in memory at a time."""
    first_thread = 0
    for process in directory.processes:
        threads = directory.threads(process["index"])
        parts = list(_Events(directory, process["index"], threads, first_thread).parts())
        sink.put(event, _joined(parts), process["index"])
        first_thread += len(threads["thread"])


class _Events:
    """The events of one process, kind by kind, as columns of `event`."""

    def __init__(
        self,
        directory: _trace.Directory,
        process: int,
        threads: Mapping[str, Any],
        first_thread: int,
    ) -> None:
        self._directory = directory
        self._process = process
        self._threads = threads
        self._thread_ids = dense_ids(threads["thread"], first_thread)
        names = directory.names(process)
        # By number, which the reader limits. Behind the last one stands what has no name.
        self._unnamed = int(max(names["id"], default=0)) + 1
        self._texts = np.full(self._unnamed + 1, "", dtype=object)
        self._texts[names["id"]] = np.array(names["text"], dtype=object)
        self._name_layers = np.zeros(self._unnamed + 1, dtype=np.int64)
        self._name_layers[names["id"]] = names["layer"]

    def parts(self) -> Iterator[dict[str, Any]]:
        yield self._operations()
        for thread, end_ns in zip(self._threads["thread"], self._threads["end_ns"], strict=True):
            items = self._directory.items(self._process, int(thread))
            yield self._calls(items, int(thread))
            yield self._nested(items, int(thread), int(end_ns))
            yield self._cuda_calls(int(thread))
        yield self._gpu()

    def _operations(self) -> dict[str, Any]:
        swept = self._directory.sweep(self._process, by_thread=False, counts=False, buckets=0)
        instances = self._directory.operation_instances(self._process)
        paths = np.array(swept["operation"]["path"], dtype=object)
        return _columns(
            "operation",
            thread_id=self._thread_ids(instances["thread"]),
            name=paths[instances["operation"]],
            start_ns=instances["start_ns"],
            duration_ns=instances["duration_ns"],
        )

    def _calls(self, items: Mapping[str, Any], thread: int) -> dict[str, Any]:
        chosen = items["kind"] == _CALL
        names = self._find(items["id"][chosen])
        return _columns(
            "call",
            thread_id=self._repeated(thread, len(names)),
            layer=_layer(self._name_layers[names]),
            name=self._texts[names],
            start_ns=items["time_ns"][chosen],
            duration_ns=items["duration_ns"][chosen],
        )

    def _nested(self, items: Mapping[str, Any], thread: int, end_ns: int) -> dict[str, Any]:
        begins, ends = _pairs(items["kind"])
        start_ns = items["time_ns"][begins]
        closed = np.where(ends >= 0, items["time_ns"][ends], end_ns)
        called = items["kind"][begins] == _CALL_BEGIN
        names = self._find(items["id"][begins])
        layers = np.where(called, self._name_layers[names], _PYTHON_LAYER)
        kinds = np.where(called, "call", "callback").astype(object)
        return _columns(
            kinds,
            thread_id=self._repeated(thread, len(begins)),
            layer=_layer(layers),
            name=np.where(called, self._texts[names], ""),
            start_ns=start_ns,
            duration_ns=closed - start_ns,
        )

    def _cuda_calls(self, thread: int) -> dict[str, Any]:
        calls = self._directory.cuda_calls(self._process, thread)
        return _columns(
            "cuda_call",
            thread_id=self._repeated(thread, len(calls["start_ns"])),
            layer=_layer(np.full(len(calls["start_ns"]), _CUDA_LAYER)),
            name=self._texts[self._find(calls["name"])],
            start_ns=calls["start_ns"],
            duration_ns=calls["duration_ns"],
            correlation_id=calls["correlation"],
        )

    def _gpu(self) -> dict[str, Any]:
        intervals = self._directory.gpu_intervals(self._process)
        return _columns(
            _GPU_KINDS[_in_range(intervals["kind"], len(_GPU_KINDS), 0)],
            layer=_layer(np.full(len(intervals["start_ns"]), _GPU_LAYER)),
            name=self._texts[self._find(intervals["name"])],
            start_ns=intervals["start_ns"],
            duration_ns=intervals["duration_ns"],
            correlation_id=intervals["correlation"],
            device=intervals["device"],
            stream=intervals["stream"],
            bytes=intervals["bytes"],
            graph=intervals["graph"],
        )

    def _find(self, ids: Any) -> Any:
        """Where the names are."""
        return _in_range(ids, self._unnamed, self._unnamed)

    def _repeated(self, thread: int, count: int) -> Any:
        return np.full(count, self._thread_ids(thread), dtype=np.int64)


def _pairs(kinds: Any) -> tuple[Any, Any]:
    """Positions of the begins of nested items and of their ends; -1 for an end that is missing."""
    begins: list[int] = []
    ends: list[int] = []
    open_: list[int] = []
    interesting = np.flatnonzero((kinds >= _CALL_BEGIN) & (kinds <= _CALLBACK_END))
    for position in interesting.tolist():
        if kinds[position] in (_CALL_BEGIN, _CALLBACK_BEGIN):
            open_.append(len(begins))
            begins.append(position)
            ends.append(-1)
        elif open_:
            ends[open_.pop()] = position
    return np.array(begins, dtype=np.int64), np.array(ends, dtype=np.int64)


def _in_range(numbers: Any, end: int, other: int) -> Any:
    """The numbers, and `other` for those that are none from 0 to `end`, which a trace may hold."""
    return np.where((numbers >= 0) & (numbers < end), numbers, other)


def _layer(numbers: Any) -> Any:
    return np.array(LAYERS, dtype=object)[numbers]


def _columns(kind: Any, **given: Any) -> dict[str, Any]:
    """Columns of `event`; those that are not given are NULL in these rows."""
    length = len(given["start_ns"])
    kinds = np.full(length, kind, dtype=object) if isinstance(kind, str) else kind
    return {"kind": kinds, **given}


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The parts one below the other."""
    wanted = [column for column in event.columns if column.name != "process_id"]
    return {column.name: _joined_column(column, parts) for column in wanted}


def _joined_column(column: sa.Column[Any], parts: list[dict[str, Any]]) -> Any:
    lengths = [len(part["start_ns"]) for part in parts]
    if isinstance(column.type, sa.Text):
        null = np.array([None], dtype=object)
        cells = [
            part.get(column.name, null.repeat(length))
            for part, length in zip(parts, lengths, strict=True)
        ]
        return np.concatenate(cells)
    numbers = [
        part.get(column.name, np.zeros(length, dtype=np.int64))
        for part, length in zip(parts, lengths, strict=True)
    ]
    missing = np.repeat([column.name not in part for part in parts], lengths)
    return np.ma.array(np.concatenate(numbers), mask=missing)
