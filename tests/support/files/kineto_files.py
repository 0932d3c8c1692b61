"""Traces of torch.profiler for tests: real ones, and small ones made of rows."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from rlscope import _trace
from rlscope.importing.directory import Imported, import_files

GOLDEN = sorted((Path(__file__).parents[2] / "golden" / "kineto").glob("*.json.gz"))
RANKS = [path for path in GOLDEN if path.name.startswith("sampled_rank-")]

TAKEN = {
    "user_annotation",
    "cpu_op",
    "cuda_runtime",
    "cuda_driver",
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "cuda_sync",
}
REAL_US = 1_700_000_000_000_000
"""A time of the world, in microseconds."""

Row = dict[str, Any]


def at_real(microseconds: Any) -> Any:
    """Microseconds since then, as a file has them."""
    return REAL_US + microseconds


def row(category: str, name: str, ts: Any, dur: Any, tid: int = 7, **arguments: Any) -> Row:
    """A complete row of process 7."""
    return {
        "ph": "X", "cat": category, "name": name, "pid": 7, "tid": tid, "ts": ts, "dur": dur,
        "args": arguments,
    }  # fmt: skip


def op(name: str, ts: Any, dur: Any, tid: int = 7) -> Row:
    return row("cpu_op", name, ts, dur, tid)


def annotation(name: str, ts: Any, dur: Any, tid: int = 7) -> Row:
    return row("user_annotation", name, ts, dur, tid)


def launch(ts: Any, dur: Any, correlation: int, tid: int = 7) -> Row:
    return row("cuda_runtime", "cudaLaunchKernel", ts, dur, tid, correlation=correlation)


def kernel(name: str, ts: Any, dur: Any, correlation: int, stream: int = 20) -> Row:
    where = {"device": 0, "context": 1, "stream": stream, "correlation": correlation}
    return {**row("kernel", name, ts, dur, stream, **where), "pid": 0}


def write(path: Path, rows: list[Row], **facts: Any) -> Path:
    """A file of these rows."""
    path.write_text(json.dumps({"schemaVersion": 1, **facts, "traceEvents": rows}))
    return path


def import_rows(folder: Path, rows: list[Row], **facts: Any) -> Path:
    """Imports a file of these rows; the trace directory."""
    file = write(folder / "rows.json", rows, **facts)
    import_files([str(file)], str(folder / "run"))
    return folder / "run"


def import_golden(path: Path, folder: Path) -> Imported:
    return import_files([str(path)], str(folder / "run"))


def read(path: Path) -> dict[str, Any]:
    """The whole file, numbers with a point as they are written."""
    with gzip.open(path, "rt") as file:
        content: dict[str, Any] = json.load(file, parse_float=Decimal)
    return content


def to_ns(microseconds: Any) -> int:
    return int(Decimal(microseconds) * 1000)


def self_times(directory: Path, process: int = 0) -> dict[str, tuple[int, int]]:
    """Name -> count and time without what lies inside, of all operations and calls of a process,
    those inside of other calls among them, as the trace file has them."""
    trace = _trace.Directory(str(directory))
    texts = dict(zip(*(trace.names(process)[key] for key in ("id", "text")), strict=True))
    found: dict[str, tuple[int, int]] = {}
    for thread in trace.threads(process)["thread"].tolist():
        items = trace.items(process, thread)
        columns = (items[key].tolist() for key in ("time_ns", "kind", "id", "duration_ns"))
        _add_thread(list(zip(*columns, strict=True)), texts, found)
    return found


_ENTER, _EXIT, _CALL, _CALL_BEGIN, _CALL_END, _CALLBACK_BEGIN, _CALLBACK_END = 1, 2, *range(15, 20)


def _add_thread(
    items: list[tuple[int, int, int, int]],
    texts: dict[int, str],
    found: dict[str, tuple[int, int]],
) -> None:
    stack: list[list[Any]] = []  # name, start, time of what lies directly inside

    def end(name: str | None, duration_ns: int, inside_ns: int) -> None:
        if name is not None:
            count, total = found.get(name, (0, 0))
            found[name] = count + 1, total + duration_ns - inside_ns
        if stack:
            stack[-1][2] += duration_ns

    for time_ns, kind, name, duration_ns in items:
        if kind == _CALL:
            end(texts[name], duration_ns, 0)
        elif kind in (_ENTER, _CALL_BEGIN):
            stack.append([texts[name], time_ns, 0])
        elif kind == _CALLBACK_BEGIN:
            stack.append([None, time_ns, 0])
        elif kind in (_EXIT, _CALL_END, _CALLBACK_END):
            text, start_ns, inside_ns = stack.pop()
            end(text, time_ns - start_ns, inside_ns)
    assert not stack
