"""A RawProcess swept by the C++ core, its answer in canonical form (relations.py)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from support.files.streamed_rows import read_instances, read_iteration_times

from ground_truth.idle import SAMPLE, Stretch
from ground_truth.raw import RawProcess
from ground_truth.relations import (
    AUTOMATIC,
    CUDA_RELATIONS,
    RELATIONS,
    UNLINKED,
    Idle,
    Rows,
)
from ground_truth.written import FILE, ORIGIN_NS, write
from rlscope import _trace
from rlscope.relations.rows.process_rows import with_rates


def sweep(process: RawProcess, *, buckets: int = 8, grid: tuple[int, int] | None = None) -> Rows:
    """Every relation of the process as the C++ core computes it, in canonical form."""
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        directory = Path(folder) / "trace"
        write([process], directory)
        return read(directory, buckets=buckets, grid=grid, most_paths=process.most_paths)


def read(
    directory: Path,
    index: int = 0,
    *,
    buckets: int = 8,
    grid: tuple[int, int] | None = None,
    most_paths: int = 16_384,
) -> Rows:
    """Every relation of the process numbered `index` of a trace directory."""
    trace = _trace.Directory(str(directory))
    shared = (grid[0] + ORIGIN_NS, grid[1] + ORIGIN_NS) if grid else (0, 0)
    swept = trace.sweep(index, buckets=buckets, grid=shared, most_paths=most_paths)
    instances = read_instances(trace, index, most_paths)
    columns = {**swept, "operation_instance": instances}
    columns["iteration_breakdown"] = read_iteration_times(swept)
    columns["thread"] = trace.threads(index)
    columns["loss"] = _added(swept["loss"], trace.losses(index))
    texts = _Texts(swept, trace.names(index))
    operation = columns["operation"]
    columns["operation"] = {**operation, **texts.marked(operation)}
    columns["transition"] = with_rates(columns["transition"], columns["iteration"])
    return {relation: texts.rows(relation, columns[relation]) for relation in RELATIONS}


def sweep_cuda(process: RawProcess) -> Rows:
    """The relations of CUDA calls and GPU work as the C++ core computes them."""
    with _opened(process) as (trace, times):
        rows: Rows = {}
        for found in (trace.cuda_relations(0, **times), trace.idle(0, **times)):
            texts = _Texts({**found, "phase_name": {"name": []}}, trace.names(0))
            for name in CUDA_RELATIONS.keys() & found.keys():
                rows[name] = texts.rows(name, found[name], CUDA_RELATIONS)
        return rows


def sweep_idle(process: RawProcess, seen: Sequence[Stretch]) -> list[Idle]:
    """The rows of `idle` where all GPU work was recorded in some stretches only: gpu_busy is None
    elsewhere, and reasons in a sample are marked."""
    with _opened(process) as (trace, times):
        shifted = [(start + ORIGIN_NS, end + ORIGIN_NS, each) for start, end, each in seen]
        found = trace.idle(0, seen=shifted, **times)
        texts = _Texts({**found, "phase_name": {"name": []}}, trace.names(0))
        columns = found["idle"]
        rows: list[Any] = []
        for known, sample in ((False, False), (True, False), (True, True)):
            flags = zip(columns["gpu_is_known"], columns["is_sample"], strict=True)
            chosen = [(bool(a), bool(b)) == (known, sample) for a, b in flags]
            kept = {name: [*compress(values, chosen)] for name, values in columns.items()}
            for row in texts.rows("idle", kept, CUDA_RELATIONS):
                busy = row.gpu_busy if known else None  # type: ignore[attr-defined]
                reason = f"{SAMPLE if sample else ''}{row.reason}"  # type: ignore[attr-defined]
                rows.append(row._replace(gpu_busy=busy, reason=reason))  # type: ignore[attr-defined]
        assert len(rows) == len(columns["reason"])
        return rows


@contextmanager
def _opened(process: RawProcess) -> Iterator[tuple[_trace.Directory, dict[str, Any]]]:
    """Its trace, and what the passes over it are asked with."""
    with tempfile.TemporaryDirectory(prefix="rlscope-") as folder:
        directory = Path(folder) / "trace"
        write([process], directory)
        trace = _trace.Directory(str(directory))
        swept = trace.sweep(0, most_paths=process.most_paths)
        loop = list(
            zip(*(swept["loop"][name].tolist() for name in ("start_ns", "end_ns")), strict=True)
        )
        yield trace, {"loop": loop[0] if loop else None, "most_paths": process.most_paths}


def _added(swept: Mapping[str, Any], counted: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Losses found by the sweep and by the reader, one row per kind."""
    sums: dict[str, int] = {}
    for kind, count in [
        *zip(swept["kind"], swept["count"], strict=True),
        *((row["kind"], row["count"]) for row in counted),
    ]:
        sums[kind] = sums.get(kind, 0) + int(count)
    return {"kind": list(sums), "count": list(sums.values())}


def _joined(texts: Sequence[str], ends: Sequence[str]) -> list[str]:
    return [text + end for text, end in zip(texts, ends, strict=True)]


def _stack_texts(stack: Mapping[str, Any]) -> dict[int, str]:
    """By number: functions and lines, the outermost first."""
    texts: dict[int, str] = {}
    columns = [stack.get(name, []) for name in ("stack", "parent", "function", "line", "file")]
    for number, parent, function, line, file in zip(*columns, strict=True):
        above = f"{texts[parent]};" if parent else ""
        elsewhere = "" if file == FILE else f"{file}:"
        texts[int(number)] = f"{above}{elsewhere}{function}:{line}"
    return texts


class _Texts:
    """Turns numbers of rows and names into text, and shifts times back."""

    def __init__(self, swept: Mapping[str, Any], names: Mapping[str, Any]) -> None:
        self._marks = [
            AUTOMATIC if source == "automatic" else "" for source in swept["operation"]["source"]
        ]
        self._paths = _joined(swept["operation"]["path"], self._marks)
        self._phases = list(swept["phase_name"]["name"])
        self._stacks = _stack_texts(swept.get("stack", {}))
        self._names = dict(zip(map(int, names["id"]), names["text"], strict=True))

    def marked(self, operation: Mapping[str, Any]) -> dict[str, list[str]]:
        """Paths and names of operations, automatic ones kept apart."""
        return {"path": self._paths, "name": _joined(operation["name"], self._marks)}

    def rows(
        self,
        relation: str,
        columns: Mapping[str, Any],
        relations: Mapping[str, Any] = RELATIONS,
    ) -> list[tuple[object, ...]]:
        row_type = relations[relation]
        values = [
            [self._value(relation, field, value) for value in columns[field]]
            for field in row_type._fields
        ]
        return sorted(map(row_type._make, zip(*values, strict=True)))

    def _value(self, relation: str, field: str, value: Any) -> object:
        value = value.item() if isinstance(value, np.generic) else value
        if field == "operation" and relation != "operation":
            return UNLINKED if value < 0 else self._paths[value]
        if field == "parent":
            return None if value < 0 else self._paths[value]
        if field == "phase" or (relation == "phase" and field == "name"):
            return self._phases[value]
        if field == "stack":
            return self._stacks.get(value, "")
        if field == "function":
            return self._names[value] if isinstance(value, int) else value
        if field in ("layer", "from_layer", "to_layer"):
            return _trace.LAYERS[value]
        if field in ("gpu_busy", "complete", "gpu_recorded"):
            return bool(value)
        if field in ("start_ns", "end_ns"):
            return value - ORIGIN_NS
        return value
