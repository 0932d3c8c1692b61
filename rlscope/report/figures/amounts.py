"""Horizontal stacked bars of amounts that are no durations of one run: shares, rates, times of one
step. rlscope.report.figures.bars has those of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from rlscope.report.figures import layout
from rlscope.report.figures.bars import BAR_HEIGHT, FRAME_HEIGHT, ROOM_FOR_TEXT
from rlscope.report.panel import Figure

Interval = tuple[float, float] | None
"""Ends at the axis; None: there is no interval."""
LINE = "#20252b"
"""Colour of intervals."""


@dataclass(frozen=True)
class Part:
    """One colour of the bars: its amount in each bar, 0 where it has none."""

    name: str
    colour: str
    values: Sequence[float]
    hatched: bool = False
    """With stripes, where the figure is a still one (svg.py)."""


def reaches(parts: Sequence[Part], intervals: Sequence[Interval], bars: int) -> list[float]:
    """Where each bar ends, or its interval."""
    lines = [*intervals, *[None] * (bars - len(intervals))]
    return [
        max(sum(part.values[place] for part in parts), line[1] if line else 0.0)
        for place, line in enumerate(lines)
    ]


def amount_bars(
    names: Sequence[str],
    parts: Sequence[Part],
    ends: Sequence[str],
    title: str,
    intervals: Sequence[Interval] = (),
) -> Figure:
    """First bar on top. `ends` stand at the ends of the bars, `title` and its unit at the axis;
    `intervals`, one of each bar, are drawn as lines."""
    totals = reaches(parts, intervals, len(names))
    figure = go.Figure(
        [*map(_trace, parts), *_lines(intervals)],
        layout=layout.base(
            FRAME_HEIGHT + BAR_HEIGHT * len(names), legend_lines=1 + len(parts) // 7
        ),
    )
    figure.update_layout(
        barmode="stack",
        bargap=0.28,
        xaxis={
            "title": {"text": layout.plain(title)},
            "range": [0, ROOM_FOR_TEXT * (max(totals, default=0) or 1)],
        },
        yaxis=layout.names_axis(names),
        annotations=[
            _text_at_end(row, *end) for row, end in enumerate(zip(totals, ends, strict=True))
        ],
    )
    return layout.as_json(figure)


def _trace(part: Part) -> go.Bar:
    cells = [(place, value) for place, value in enumerate(part.values) if value]
    return go.Bar(
        orientation="h",
        name=layout.plain(part.name),
        y=[place for place, _ in cells],
        x=[value for _, value in cells],
        hovertemplate="%{fullData.name}: %{x:,.4~r}<extra></extra>",
        marker={"color": part.colour, "line": {"width": 0}},
    )


def _lines(intervals: Sequence[Interval]) -> list[go.Scatter]:
    drawn = [(place, line) for place, line in enumerate(intervals) if line]
    if not drawn:
        return []
    half = [(high - low) / 2 for _, (low, high) in drawn]
    return [
        go.Scatter(
            name="95 % interval",
            mode="markers",
            x=[(low + high) / 2 for _, (low, high) in drawn],
            y=[place for place, _ in drawn],
            customdata=[list(line) for _, line in drawn],
            hovertemplate="%{customdata[0]:,.4~r} to %{customdata[1]:,.4~r}<extra></extra>",
            marker={"size": 1, "color": LINE},
            error_x={"array": half, "color": LINE, "thickness": 1.5, "width": 4},
        )
    ]


def _text_at_end(row: int, total: float, text: str) -> dict[str, Any]:
    return {
        "x": total,
        "y": row,
        "text": layout.plain(text),
        "xanchor": "left",
        "xshift": 6,
        "showarrow": False,
        "font": {"size": 12},
    }
