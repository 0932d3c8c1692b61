"""Idle: why the loop does not go on, or its GPU has nothing to do, by reason and operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import cuda, idle
from rlscope.report import limits, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

Row = Mapping[str, Any]


def read(trace: Trace) -> dict[str, Table]:
    return {"idle": idle.reasons(trace), "cuda_total": cuda.total(trace)}


def draw(tables: Tables) -> Drawing | Nothing:
    rows = tables["idle"].to_dicts()
    if not rows:
        return Nothing(_EMPTY)
    has_gpu = any(row["idle_ns"] is not None for row in rows)
    return Drawing(
        title="" if has_gpu else _WITHOUT_GPU[0],
        question="" if has_gpu else _WITHOUT_GPU[1],
        notes=[_GPU if has_gpu else _NO_GPU, *_seen(tables["cuda_total"].to_dicts()[0])],
        grids=[
            _grid("Table: time by reason", rows, ["reason"], _reason, has_gpu, shown=True),
            _grid(
                "Table: time by operation and reason", rows, ["operation", "reason"], _both, has_gpu
            ),
        ],
    )


def _seen(total: Row) -> Iterator[str]:
    """Where GPU work was recorded in windows."""
    if total["iterations"]:
        share = units.share(total["seen"], total["iterations"])
        yield (
            f"GPU work was seen in {share} of the iterations. What the GPU did in them, and how "
            "calls waited, stands for the others, operation by operation."
        )


def _reason(row: Row) -> tuple[str, ...]:
    return (_REASONS[row["reason"]],)


def _both(row: Row) -> tuple[str, ...]:
    return units.operation(row["operation"]), _REASONS[row["reason"]]


def _grid(
    title: str,
    rows: Sequence[Row],
    columns: list[str],
    key: Callable[[Row], tuple[str, ...]],
    has_gpu: bool,
    *,
    shown: bool = False,
) -> Grid:
    """Rows with the same key are one; the longest come first."""
    times: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        sums = times.setdefault(key(row), [0, 0])
        sums[0] += row["duration_ns"]
        sums[1] += row["idle_ns"] or 0
    longest = sorted(times.items(), key=lambda each: -each[1][0])[: limits.ROWS]
    whole_ns = rows[0]["whole_ns"]
    return Grid(
        title=title,
        columns=[*columns, ">time", ">share", *([">GPU idle meanwhile"] if has_gpu else [])],
        rows=[
            [
                *names,
                units.duration(duration_ns),
                units.share(duration_ns, whole_ns),
                *([units.duration(idle_ns)] if has_gpu else []),
            ]
            for names, (duration_ns, idle_ns) in longest
        ],
        open=shown,
    )


_REASONS = {
    "simulator": "simulator",
    "python": "Python, between calls",
    "framework": "framework, on the CPU",
    "launch": "launches on the GPU",
    "synchronisation": "waits for the GPU, and copies from it",
    "copy": "copies of pageable memory to the GPU",
    "allocation": "memory of the GPU",
    "collection": "garbage collection",
    "process": "another process",
    "thread": "another thread, or the GIL",
    "sleep": "sleep",
    "disk": "disk, saving or loading",
    "compilation": "compilation and loading of code",
    "none": "nothing that was recorded",
    "rolled up": "rolled up, so the reason was not kept",
}
"""What a reader sees of each reason of relation `idle`."""

_EMPTY = "no process that counts has any time to divide."

_GPU = (
    "Each instant of the training loop and its warm-up has one reason: what the thread that counts "
    "was in. The last column is the part in which the GPU did nothing for the program. If Python, "
    "framework and launches are most of it, the GPU waits for the CPU."
)

_NO_GPU = (
    "Each instant of the training loop and its warm-up has one reason: what the thread that counts "
    "was in."
)

# On a CPU that is never idle.
_WITHOUT_GPU = ("What the loop does", "What does the loop do or wait for at each moment?")

PANEL = Panel(
    title="Idle time",
    question="Why does the loop not go on, or its GPU do nothing?",
    read=read,
    draw=draw,
)
