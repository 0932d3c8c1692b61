"""Lines over a shared horizontal axis, one row of the figure per unit of measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rlscope.report.figures import layout
from rlscope.report.panel import Figure

ROW_HEIGHT = 170
FRAME_HEIGHT = 110
# As a part of the height of a row.
ROW_GAP = 0.2
# So many things have a tick each; plotly would put ticks between them.
_EVERY_TICK = 12
_LEGEND = {"yanchor": "top", "x": 1.01, "xanchor": "left", "traceorder": "normal"}


@dataclass(frozen=True)
class Line:
    """One line. `band` fills the room down to the line before in the same row."""

    name: str
    colour: str
    x: Sequence[float]
    y: Sequence[float]
    hover: str = "%{fullData.name}: %{y:,.1f}"
    """Plotly's template; never a user's text, which may hold "%{"."""
    details: Sequence[Sequence[float]] = ()
    """Numbers for the template's %{customdata[i]}, per point."""
    dash: str = "solid"
    band: bool = False
    hidden: bool = False
    """Not drawn: the lower end of a band that follows."""


@dataclass(frozen=True)
class Row:
    """Lines that share a vertical axis."""

    title: str
    lines: Sequence[Line]
    top: float | None = None
    """Upper end of the axis; None: the largest value."""


def lines(rows: Sequence[Row], x_title: str, *, counted: bool = False) -> Figure:
    """Rows from top to bottom, each beside its legend, with one horizontal axis below the last. The
    legend of a single row is above it.

    Args:
        counted: x are numbers of things, and between two of them is nothing.
    """
    figure = go.Figure(layout=layout.base(FRAME_HEIGHT + ROW_HEIGHT * len(rows)))
    for number, row in enumerate(rows):
        suffix = "" if number == 0 else str(number + 1)
        bottom, top = _domain(number, len(rows))
        figure.add_traces([_trace(line, suffix) for line in row.lines])
        figure.update_layout({f"yaxis{suffix}": _axis(row, bottom, top)})
        if len(rows) > 1:
            figure.update_layout({f"legend{suffix}": {**_LEGEND, "y": top}})
    last = "" if len(rows) == 1 else str(len(rows))
    figure.update_layout(
        xaxis={
            "title": {"text": x_title},
            "anchor": f"y{last}",
            "dtick": _tick(rows) if counted else None,
        },
        hovermode="closest",
    )
    return layout.as_json(figure)


def _tick(rows: Sequence[Row]) -> int | None:
    """1: a tick each. None: they are many, and plotly chooses."""
    x = [each for row in rows for line in row.lines for each in line.x]
    return 1 if max(x) - min(x) <= _EVERY_TICK else None


def _domain(number: int, rows: int) -> tuple[float, float]:
    """Bottom and top of a row as parts of the height; the gap between rows holds a legend."""
    below = rows - 1 - number
    return (below + (ROW_GAP if below else 0)) / rows, (below + 1) / rows


def _trace(line: Line, suffix: str) -> go.Scatter:
    return go.Scatter(
        name=layout.plain(line.name),
        # Four bytes a number: seven digits, more than a picture shows.
        x=np.asarray(line.x, dtype=np.float32),
        y=np.asarray(line.y, dtype=np.float32),
        customdata=np.asarray(line.details, dtype=np.float32) if len(line.details) else None,
        yaxis=f"y{suffix}",
        legend=f"legend{suffix}",
        # A line of one point would be none.
        mode="lines" if len(line.x) != 1 else "markers",
        marker={"color": line.colour} if len(line.x) == 1 else None,
        line={
            "color": line.colour,
            "width": 0 if line.band or line.hidden else 1.8,
            "dash": line.dash,
        },
        showlegend=not line.hidden,
        fill="tonexty" if line.band else None,
        fillcolor="rgba(0,114,178,0.22)" if line.band else None,
        hovertemplate=f"{line.hover}<extra></extra>" if line.hover else None,
        hoverinfo=None if line.hover else "skip",
    )


def _axis(row: Row, bottom: float, top: float) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "domain": [bottom, top],
        "title": {"text": layout.plain(row.title)},
        "rangemode": "tozero",
        "automargin": True,
    }
    if row.top is not None:
        axis["range"] = [0, row.top]
    return axis
