"""What else was the machine doing: CPU, memory and GPU over time."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlscope.analysis import machine
from rlscope.report import limits, palette, units, utilisation, views
from rlscope.report.figures.lines import Line, Row, lines
from rlscope.report.panel import Chart, Drawing, Figure, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

_COLOURS = list(dict.fromkeys([*palette.LAYERS.values(), *palette.STATES.values()]))
_UTILISATION = re.compile(r"gpu\d+_percent")
_PROCESSES = 3  # in sentences
_GIB = float(1 << 30)

_EMPTY = (
    "fewer than two readings. rls-prof reads CPU, memory and, where NVML is, the GPU once a second."
)


def read(trace: Trace) -> dict[str, Table]:
    return {
        "machine_series": machine.machine_series(
            trace, points=limits.POINTS, processes=limits.TIMELINE_PROCESSES
        ),
        "gpu_busy_series": machine.gpu_busy_series(
            trace, buckets=limits.BUCKETS, processes=limits.TIMELINE_PROCESSES
        ),
        "utilisation": machine.utilisation(trace, processes=_PROCESSES),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    samples = tables["machine_series"].to_dicts()
    busy = tables["gpu_busy_series"].to_dicts()
    figure = _figure(samples, busy)
    if figure is None:
        return Nothing(_EMPTY)
    return Drawing(
        notes=[*_notes(samples, busy), *_polled(tables["utilisation"].to_dicts())],
        charts=[Chart("machine-chart", "Readings of the machine, about one a second", figure)],
    )


def _notes(samples: views.Rows, busy: views.Rows) -> list[str]:
    cpu = "CPU is a share of all cores for the machine, and of one core for a process."
    return [cpu, *_gpu_notes(samples, busy)]


def _polled(rows: views.Rows) -> list[str]:
    return [*utilisation.gpus(rows), *utilisation.cores(rows), *utilisation.processes(rows)]


def _gpu_notes(samples: views.Rows, busy: views.Rows) -> list[str]:
    if not any(_UTILISATION.fullmatch(row["metric"]) for row in samples):
        return []
    if busy:
        return [
            "NVML calls a GPU utilised while any kernel runs, however small, and averages over up "
            "to a second; the busy share beside it is measured from the GPU work of the program."
        ]
    return [
        "NVML's GPU utilisation was sampled but is not drawn: this trace has no GPU activity to "
        "set beside it, and alone it misleads. It is in relation `machine_sample`."
    ]


def _figure(samples: views.Rows, busy: views.Rows) -> dict[str, Figure] | None:
    divisor, unit = units.axis_unit(max((row["start_ns"] for row in [*samples, *busy]), default=0))
    rows = [
        _row("CPU (%)", samples, divisor, _is("cpu_percent", machine=True), 1, top=100),
        _row("process CPU (%)", samples, divisor, _is("cpu_percent", machine=False), 1),
        _row("memory (GiB)", samples, divisor, _is_memory, _GIB),
        _gpu_row(samples, busy, divisor),
        _row("GPU memory (GiB)", samples, divisor, _is_gpu("memory_bytes"), _GIB),
        _row("GPU power (W)", samples, divisor, _is_gpu("power_watts"), 1),
    ]
    present = [row for row in rows if any(len(line.x) > 1 for line in row.lines)]
    if not present:
        return None
    return {"machine": lines(present, f"time since the run began ({unit})")}


def _gpu_row(samples: views.Rows, busy: views.Rows, divisor: int) -> Row:
    """Utilisation only beside busy time: a GPU at 100 % utilisation may be idle most of it."""
    if not busy:
        return Row("GPU (%)", [])
    sampled = _row("GPU (%)", samples, divisor, lambda r: _UTILISATION.fullmatch(r["metric"]), 1)
    measured = [
        _busy_line(list(rows), divisor)
        for _, rows in itertools.groupby(busy, key=lambda row: row["process_id"])
    ]
    return Row(sampled.title, [*measured, *sampled.lines], top=100)


def _busy_line(rows: views.Rows, divisor: int) -> Line:
    name = f"busy: {units.visible(rows[0]['name'] or '?')}"
    shares = [100 * row["busy_ns"] / row["bucket_ns"] for row in rows]
    return Line(
        name,
        palette.STATES["gpu"],
        [(row["start_ns"] + row["bucket_ns"] / 2) / divisor for row in rows],
        shares,
    )


def _row(
    title: str,
    samples: views.Rows,
    divisor: int,
    wanted: Callable[[dict[str, Any]], object],
    scale: float,
    top: float | None = None,
) -> Row:
    chosen = [row for row in samples if wanted(row)]
    groups = itertools.groupby(chosen, key=_line_name)
    return Row(
        title,
        [
            _line(name, list(rows), divisor, scale, colour)
            for (name, rows), colour in zip(groups, itertools.cycle(_COLOURS), strict=False)
        ],
        top,
    )


def _line(name: str, rows: views.Rows, divisor: int, scale: float, colour: str) -> Line:
    return Line(
        name,
        colour,
        [row["start_ns"] / divisor for row in rows],
        [row["mean"] / scale for row in rows],
    )


def _line_name(row: dict[str, Any]) -> str:
    metric = row["metric"].rpartition("_")[0]
    if row["process_id"] is not None:
        return f"{metric}: {row['process']} (pid {row['os_pid']})"
    return f"{metric}: {row['host'] or 'machine'}"


def _is(metric: str, *, machine: bool) -> Callable[[dict[str, Any]], object]:
    return lambda row: row["metric"] == metric and (row["process_id"] is None) is machine


def _is_memory(row: dict[str, Any]) -> bool:
    return bool(row["metric"] == "memory_bytes")


def _is_gpu(reading: str) -> Callable[[dict[str, Any]], object]:
    pattern = re.compile(rf"gpu\d+_{reading}")
    return lambda row: pattern.fullmatch(row["metric"])


PANEL = Panel(
    title="Machine",
    question="What else kept the machine busy?",
    read=read,
    draw=draw,
)
