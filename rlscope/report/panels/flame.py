"""Flame graph: which calls the time of the training loops lies in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.analysis import coverage, lines
from rlscope.report import limits, line_sentences, shares, source_names, units
from rlscope.report.operation_choices import OperationChoices
from rlscope.report.panel import Drawing, Flame, Frame, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

Rows = list[dict[str, Any]]

_WALL_TIME = "wall time"
_GPU_TIME = "GPU time"
_UNKNOWN = "(stack not known)"
_SMALL = "(smaller calls)"


def read(trace: Trace) -> dict[str, Table]:
    return {
        "flame_frame": lines.flame_frames(trace, frames=limits.FRAMES),
        "flame_part": lines.flame_parts(trace, frames=limits.FRAMES),
        "inner_line": lines.inner_lines(trace, rows=limits.INNER_LINES),
        "coverage": coverage.coverage(trace),
        "absence": coverage.why_absent(trace, "stack"),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    frames = tables["flame_frame"].to_dicts()
    if not frames:
        return Nothing(line_sentences.absence(tables["absence"]["reason"]))
    (facts,) = tables["coverage"].to_dicts()
    whole = shares.whole_name(facts)
    parts = tables["flame_part"].to_dicts()
    measures = _measures(parts, whole)
    return Drawing(
        notes=[
            _NOTE.format(whole=whole, frames=limits.FRAMES),
            *([_GPU_NOTE.format(whole=whole)] if _GPU_TIME in measures else []),
        ],
        flames=[_flame(frames, parts, measures)],
        grids=[_grid(tables["inner_line"].to_dicts())],
    )


def _measures(parts: Rows, whole: str) -> dict[str, str]:
    """Name -> title."""
    found = {_WALL_TIME: f"Calls by their share of {whole}, below the calls that made them"}
    if any(row["gpu_ns"] for row in parts):
        found[_GPU_TIME] = f"Calls by the share of the GPU time of {whole} that they launched"
    return found


def _flame(rows: Rows, parts: Rows, measures: dict[str, str]) -> Flame:
    names = source_names.short(row["file"] for row in rows)
    states = OperationChoices(parts, "self_ns", of=("frame", "is_known", "is_small"))
    frames = [
        Frame(
            row["caller_frame"] and row["caller_frame"] - 1,
            f"{row['function']} ({names[row['file']]}:{row['line'] or '?'})",
            row["file"],
        )
        for row in rows
    ]
    nowhere = {place: number for number, place in enumerate(_nowhere(parts), len(frames))}
    frames += [Frame(caller, name, "") for caller, name in nowhere]
    return Flame(
        key="flame-graph",
        measures=measures,
        frames=frames,
        choices=states.choices(),
        layers=states.layers(),
        parts=_added(
            ((_frame(row, nowhere), *states.place(row)), (row["self_ns"], row["gpu_ns"]))
            for row in parts
        ),
    )


def _added(parts: Iterator[tuple[tuple[int, int, int], tuple[int, int]]]) -> list[tuple[int, ...]]:
    """Those of the same places together: small operations have one."""
    sums: dict[tuple[int, int, int], tuple[int, int]] = {}
    for place, (self_ns, gpu_ns) in parts:
        before = sums.get(place, (0, 0))
        sums[place] = (before[0] + self_ns, before[1] + gpu_ns)
    return [(*place, *(times if times[1] else times[:1])) for place, times in sums.items()]


def _where(row: dict[str, Any]) -> tuple[int | None, str] | None:
    """Caller and name of the frame for time that is in none; None: the row has one."""
    caller = None if row["frame"] is None else row["frame"] - 1
    if not row["is_known"]:
        return None, _UNKNOWN
    return (caller, _SMALL) if row["is_small"] else None


def _nowhere(parts: Rows) -> Iterator[tuple[int | None, str]]:
    yield from dict.fromkeys(place for row in parts if (place := _where(row)))


def _frame(row: dict[str, Any], nowhere: dict[tuple[int | None, str], int]) -> int:
    place = _where(row)
    return int(row["frame"]) - 1 if place is None else nowhere[place]


def _grid(rows: Rows) -> Grid:
    names = source_names.short(row["file"] for row in rows)
    is_corrected = all(row["self_corrected_ns"] is not None for row in rows)
    return Grid(
        title="Table: lines that were innermost, those of libraries too",
        columns=["line", "function", ">own time", ">share",
                 *([">without recording"] if is_corrected else []), "whose"],
        rows=[
            [
                units.visible(f"{names[row['file']]}:{row['line'] or '?'}"),
                units.visible(row["function"]),
                units.duration(row["self_ns"]),
                units.share(row["self_ns"], row["loop_ns"]),
                *([units.duration(row["self_corrected_ns"])] if is_corrected else []),
                "program" if row["is_own"] else "library",
            ]
            for row in rows
        ],
    )  # fmt: skip


_NOTE = (
    "Each frame is a call. It is as wide as its share of {whole}, and stands below the call that "
    "made it. Its colour is the layer that takes most of its time. Choose a frame to see it over "
    "the whole width. The times are estimates from readings of the stacks. Calls below 0.1 % of "
    "the time, and all but the {frames:,} largest, are together as (smaller calls)."
)
_GPU_NOTE = (
    "Choose GPU time, and a frame is as wide as its share of the GPU time of {whole}. A frame has "
    "the GPU work that it and its calls launched. These times are exact."
)

PANEL = Panel(
    title="Flame graph",
    question="Which calls does the time lie in?",
    read=read,
    draw=draw,
)
