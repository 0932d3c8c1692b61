"""What does the GPU do for which operation, and which one waits for it: CUDA calls and GPU work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rlscope.analysis import cuda, gpu_windows
from rlscope.report import cuda_sentences, gpu_sentences, limits, palette, units
from rlscope.report.figures.bars import Bar, Series, stacked_bars
from rlscope.report.panel import Chart, Drawing, Figure, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

Rows = list[dict[str, Any]]

_LAUNCHED, _WHILE = "launched by the operation", "while the operation owned its process"
_VIEWS = {_LAUNCHED: "launched_ns", _WHILE: "while_ns"}
_OTHER = "(other)"

# The whole of the shares of each chart.
_BUSY_TIME = "the GPU time of all processes and GPUs added up"
_KERNEL_TIME = "the time in kernels and graphs"


def read(trace: Trace) -> dict[str, Table]:
    return {
        "total": cuda.total(trace),
        "gpu_estimate": gpu_windows.estimates(trace),
        "operation": cuda.operations(trace, operations=limits.OPERATIONS),
        "device_time": cuda.device_times(trace, operations=limits.OPERATIONS),
        "kernel_total": cuda.longest_kernels(trace, kernels=limits.KERNELS),
        "kernel": cuda.kernels(
            trace, kernels=limits.FUNCTIONS, operations=limits.OPERATIONS_WITH_FUNCTIONS
        ),
        "copy": cuda.copies(trace),
        "sync": cuda.syncs(trace, rows=limits.CROSSINGS),
        "absent": cuda.absence(trace),
        "problem": cuda.problems(trace, rows=limits.FUNCTIONS),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    absent = [reason for (reason,) in tables["absent"]]
    operations = tables["operation"].to_dicts()
    if not operations:
        return Nothing(f"{'; '.join(absent) or 'no CUDA call and no GPU work was recorded'}.")
    kernels = tables["kernel"].to_dicts()
    (total,) = tables["total"].to_dicts()
    seen = cuda_sentences.seen(total)
    return Drawing(
        notes=[
            *(f"This trace has no CUDA: {reason}." for reason in absent),
            *cuda_sentences.problems(tables["problem"].to_dicts()),
            *gpu_sentences.busy(tables["gpu_estimate"].to_dicts()),
            *cuda_sentences.totals(tables["total"].to_dicts()),
        ],
        charts=[
            replace(chart, title=f"{chart.title}{seen}")
            for chart in (
                *_device_chart(tables["device_time"].to_dicts()),
                *_kernel_chart(tables["kernel_total"].to_dicts()),
            )
        ],
        grids=[
            replace(grid, title=f"{grid.title}{seen}")
            for grid in (
                _operations(operations) if _has_work(total) else _calls(operations),
                *_kernels(kernels),
                *_copies(tables["copy"].to_dicts()),
                *_syncs(tables["sync"].to_dicts()),
            )
        ],
    )


def _has_work(total: dict[str, Any]) -> bool:
    """Whether GPU work was recorded, if there was any."""
    return total["gpu_ns"] is not None


# ---- charts -------------------------------------------------------------------------------------


def _device_chart(rows: Rows) -> Iterator[Chart]:
    if rows:
        figures = {view: _devices(rows, column) for view, column in _VIEWS.items()}
        title = f"GPU time per operation, by GPU; shares of {_BUSY_TIME}"
        yield Chart("cuda-chart", title, figures)


def _devices(rows: Rows, column: str) -> Figure:
    """The work of several operations may run at one time. Shares are those of the time in which the
    operations owned their processes, so they may add up to more."""
    names = list(dict.fromkeys(units.operation(row["operation"]) for row in rows))
    cells = {(row["gpu"], units.operation(row["operation"])): row[column] for row in rows}
    whole = sum(row["while_ns"] for row in rows)
    bars = [
        Bar(name, sum(ns for (_, each), ns in cells.items() if each == name), whole)
        for name in names
    ]
    series = [
        Series(_gpu(gpu), palette.device_colour(place), values)
        for place, gpu in enumerate(
            sorted({gpu for gpu, _ in cells}, key=lambda gpu: (len(gpu), gpu))
        )
        if any(values := [cells.get((gpu, name), 0) for name in names])
    ]
    return stacked_bars(bars, series, _BUSY_TIME)


def _gpu(name: str) -> str:
    """A number means nothing by itself, a UUID begins with its kind."""
    return f"GPU {name}" if name.isdigit() else units.label(name)


def _kernel_chart(rows: Rows) -> Iterator[Chart]:
    if rows:
        bars = [Bar(_function(row), row["duration_ns"], row["kernel_ns"]) for row in rows]
        series = Series("kernels", palette.ACCENT, [row["duration_ns"] for row in rows])
        title = "Time in kernels and graphs, added up over launches"
        figure = stacked_bars(bars, [series], _KERNEL_TIME)
        yield Chart("kernel-chart", f"{title}; shares of {_KERNEL_TIME}", {"all": figure})


def _function(row: dict[str, Any]) -> str:
    """The name of a kernel, or how many there are in a row of several."""
    if row["function"] is None:
        return f"({units.plural(row['functions'], 'other kernel')})"
    return units.kernel(row["function"])


# ---- tables -------------------------------------------------------------------------------------


def _operations(rows: Rows) -> Grid:
    return Grid(
        title="Table: GPU time, launches and waiting of each operation",
        columns=[
            "operation",
            ">launched GPU time",
            ">GPU time while it ran",
            ">launches",
            ">launch-bound",
            ">in CUDA calls",
            ">waiting for the GPU",
        ],
        rows=[
            [
                units.operation(row["operation"]),
                units.duration_or_blank(row["launched_ns"]),
                units.duration_or_blank(row["while_ns"]),
                units.count(row["launches"]),
                units.share(row["launch_bound"], row["launches"]),
                units.duration_or_blank(row["api_ns"]),
                units.duration_or_blank(row["waiting_ns"]),
            ]
            for row in rows
        ],
        open=True,
    )


def _calls(rows: Rows) -> Grid:
    """The table where GPU work is not known."""
    return Grid(
        title="Table: time in CUDA calls of each operation",
        columns=["operation", ">in CUDA calls"],
        rows=[
            [units.operation(row["operation"]), units.duration_or_blank(row["api_ns"])]
            for row in rows
        ],
        open=True,
    )


def _kernels(rows: Rows) -> Iterator[Grid]:
    if not rows:
        return
    yield Grid(
        title="Table: the kernels that take most of an operation's kernel time",
        columns=[
            "operation", "kernel", ">launches", ">time", ">share", ">a launch", ">shortest",
            ">longest", ">launch-bound",
        ],
        rows=[
            [
                units.operation(row["operation"]),
                units.visible(_function(row)),
                units.count(row["launches"]),
                units.duration(row["duration_ns"]),
                units.share(row["duration_ns"], row["kernel_ns"]),
                units.duration(row["duration_ns"] / row["launches"]),
                units.duration(row["min_ns"]),
                units.duration(row["max_ns"]),
                units.share(row["launch_bound"], row["launches"]),
            ]
            for row in rows
        ],
    )  # fmt: skip


def _copies(rows: Rows) -> Iterator[Grid]:
    if not rows:
        return
    yield Grid(
        title="Table: copies, by direction and by the kind of host memory",
        columns=["direction", "memory", ">copies", ">bytes", ">time", ">per second"],
        rows=[
            [
                cuda_sentences.words(row["direction"]),
                row["memory"],
                units.count(row["copies"]),
                units.size(row["bytes"]),
                units.duration(row["duration_ns"]),
                cuda_sentences.rate(row),
            ]
            for row in rows
        ],
    )


def _syncs(rows: Rows) -> Iterator[Grid]:
    if not rows:
        return
    yield Grid(
        title="Table: synchronisation, and how long it waited for the GPU",
        columns=["operation", "of", ">calls", ">time", ">waiting", ">share"],
        rows=[
            [
                units.operation(row["operation"] or _OTHER),
                cuda_sentences.words(row["kind"] or _OTHER),
                units.count(row["calls"]),
                units.duration(row["duration_ns"]),
                units.duration_or_blank(row["waiting_ns"]),
                units.share(row["waiting_ns"], row["duration_ns"]),
            ]
            for row in rows
        ],
    )


PANEL = Panel(
    title="CUDA",
    question="What does the GPU do for which operation, and which one waits for it?",
    read=read,
    draw=draw,
)
