"""What a trace holds of a process's CUDA calls and GPU work, record by record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from rlscope import _trace
from rlscope.opening import load

Row = dict[str, Any]

KERNEL, MEMCPY, MEMSET, GRAPH, SYNC, OVERHEAD = 1, 2, 3, 4, 5, 6
"""Kinds of GPU work (trace.proto)."""


@dataclass
class CudaTrace:
    """A finished trace."""

    directory: Path

    def process_of(self, pid: int) -> dict[str, Any]:
        """The last process image with that pid."""
        found = [row for row in self._directory().processes if row["os_pid"] == pid]
        assert found, f"process {pid} is not in the trace"
        return found[-1]

    def _directory(self) -> _trace.Directory:
        return _trace.Directory(str(self.directory))

    def calls(self, pid: int) -> dict[int, Row]:
        """Recorded calls by correlation id: tid, name, start_ns, end_ns, status."""
        directory, index = self._directory(), self.process_of(pid)["index"]
        texts = _texts(directory, index)
        calls: dict[int, Row] = {}
        threads = directory.threads(index)
        for thread, tid in zip(threads["thread"].tolist(), threads["os_tid"].tolist(), strict=True):
            columns = {name: c.tolist() for name, c in directory.cuda_calls(index, thread).items()}
            for i, correlation in enumerate(columns["correlation"]):
                assert correlation not in calls, "a call twice"
                start = columns["start_ns"][i]
                calls[correlation] = {
                    "tid": tid,
                    "name": texts[columns["name"][i]],
                    "start_ns": start,
                    "end_ns": start + columns["duration_ns"][i],
                    "status": columns["status"][i],
                }
        return calls

    def work(self, pid: int) -> list[Row]:
        """Recorded GPU work."""
        directory, index = self._directory(), self.process_of(pid)["index"]
        texts = _texts(directory, index)
        columns = {name: c.tolist() for name, c in directory.gpu_intervals(index).items()}
        rows = [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]
        for row in rows:
            row["name"] = texts.get(row["name"], "")
            row["end_ns"] = row["start_ns"] + row["duration_ns"]
        return rows

    def starts(self, pid: int) -> dict[int | str, Any]:
        """When pieces of GPU work began, by kind, and CUDA calls, as `calls`: sorted, in NumPy."""
        directory, index = self._directory(), self.process_of(pid)["index"]
        work = directory.gpu_intervals(index)
        kinds, began = numpy.asarray(work["kind"]), numpy.asarray(work["start_ns"])
        threads = directory.threads(index)["thread"].tolist()
        calls = [directory.cuda_calls(index, thread)["start_ns"] for thread in threads]
        of_kinds = {int(kind): numpy.sort(began[kinds == kind]) for kind in numpy.unique(kinds)}
        return {**of_kinds, "calls": numpy.sort(numpy.concatenate(calls))}

    def metadata(self, pid: int) -> dict[str, str]:
        """What the process said of itself."""
        return dict(self.process_of(pid)["metadata"])

    def query(self, statement: str) -> list[dict[str, Any]]:
        with load(str(self.directory)) as trace:
            return trace.sql(statement).to_dicts()


def _texts(directory: _trace.Directory, index: int) -> dict[int, str]:
    names = directory.names(index)
    return dict(zip(names["id"].tolist(), names["text"], strict=True))
