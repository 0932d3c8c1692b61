"""Marks with whiskers: some durations of several series, side by side below one name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from rlscope.report import units
from rlscope.report.figures import layout
from rlscope.report.figures.bars import ROOM_FOR_TEXT
from rlscope.report.panel import Figure

MARK_HEIGHT = 15
NAME_GAP = 12
FRAME_HEIGHT = 100
# Part of a name's height that its marks take.
_FILLED = 0.7


@dataclass(frozen=True)
class Range:
    """Low, middle and high, in ns."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Ranges:
    """One series: a range for each name, None where it has none."""

    name: str
    colour: str
    values: Sequence[Range | None]


def ranges(names: Sequence[str], series: Sequence[Ranges], title: str) -> Figure:
    """The first name on top, and below each name a mark of every series, in their order."""
    longest = max((each.high for of in series for each in of.values if each), default=0.0)
    divisor, unit = units.axis_unit(round(longest))
    height = len(names) * (MARK_HEIGHT * len(series) + NAME_GAP)
    figure = go.Figure(
        [_trace(each, place, len(series), divisor, unit) for place, each in enumerate(series)],
        layout=layout.base(FRAME_HEIGHT + height, legend_lines=1 + len(series) // 4),
    )
    figure.update_layout(
        # page.js reads the range where the page is narrow, and puts the names above the marks.
        xaxis={
            "title": {"text": f"{title} ({unit})"},
            "range": [0, ROOM_FOR_TEXT * max(longest, 1) / divisor],
        },
        yaxis=layout.names_axis(names),
    )
    return layout.as_json(figure)


def _trace(of: Ranges, place: int, count: int, divisor: int, unit: str) -> go.Scatter:
    known = [(name, each) for name, each in enumerate(of.values) if each is not None]
    shift = _FILLED * ((place + 0.5) / count - 0.5)
    return go.Scatter(
        name=layout.plain(of.name),
        mode="markers",
        x=[round(each.middle / divisor, 6) for _, each in known],
        y=[name + shift for name, _ in known],
        marker={"color": of.colour, "size": 8},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [round((each.high - each.middle) / divisor, 6) for _, each in known],
            "arrayminus": [round((each.middle - each.low) / divisor, 6) for _, each in known],
            "color": of.colour,
            "thickness": 1.5,
            "width": 3,
        },
        # A name comes in by its trace: a template would read its "%{".
        hovertemplate=f"%{{fullData.name}}: %{{x:.4~r}} {unit}<extra></extra>",
    )
