"""Common to all figures: margins, legend, names as labels, and the way to JSON."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from rlscope.report import units
from rlscope.report.panel import Figure


def plain(text: str) -> str:
    """A name that plotly shows letter by letter: its texts otherwise read tags and entities."""
    return html.escape(units.visible(text), quote=False)


def tick(text: str) -> str:
    """A name as an axis label: `plain`, at most units.LABEL_CHARACTERS long."""
    return html.escape(units.label(text), quote=False)


def base(height: int, *, legend_lines: int = 1) -> go.Layout:
    """Height in pixels; the width is the page's. A legend of many names wraps above the plot."""
    return go.Layout(
        height=height,
        showlegend=True,  # plotly leaves out that of a single series, whose name it is
        margin={"l": 8, "r": 24, "t": 20 + 18 * legend_lines, "b": 48},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "traceorder": "normal"},
        hoverlabel={"align": "left"},
        font={"size": 13},
    )


def names_axis(names: Sequence[str]) -> dict[str, Any]:
    """A vertical axis with a name at each whole number, the first one on top."""
    return {
        "range": [len(names) - 0.5, -0.5],
        "tickvals": list(range(len(names))),
        "ticktext": [tick(name) for name in names],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def hatching(colour: str) -> dict[str, Any]:
    """Stripes on a colour: time in which the GPU worked too."""
    return {
        "shape": "/",
        "size": 7,
        "solidity": 0.3,
        "fgcolor": "#FFFFFF",
        "bgcolor": colour,
        "fillmode": "replace",
    }


def as_json(figure: go.Figure) -> Figure:
    """Plotly JSON values: numpy arrays as base64, without plotly's default template (7 KB each)."""
    figure.update_layout(template=go.layout.Template())
    json: Figure = figure.to_plotly_json()
    return json
