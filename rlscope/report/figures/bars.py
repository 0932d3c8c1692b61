"""Horizontal stacked bars: durations of several series, one bar per name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from rlscope.report import units
from rlscope.report.figures import layout
from rlscope.report.panel import Figure

# Pixels: a bar with its gap, and everything above and below the bars.
BAR_HEIGHT = 30
FRAME_HEIGHT = 100

# The text at a bar's end needs about a fifth of the axis beyond the longest bar.
ROOM_FOR_TEXT = 1.22


@dataclass(frozen=True)
class Bar:
    """Name, length, and the total that the length is a share of."""

    name: str
    total_ns: int
    whole_ns: int


@dataclass(frozen=True)
class Series:
    """One colour of the bars: its duration in each bar, 0 where it has none."""

    name: str
    colour: str
    values_ns: Sequence[int]
    hatched: bool = False
    meaning: str = ""


def stacked_bars(bars: Sequence[Bar], series: Sequence[Series], whole: str) -> Figure:
    """First bar on top, with total and share written at its end; exact ns first in `customdata`.

    Args:
        whole: what `Bar.whole_ns` is, in words: "the recorded time".
    """
    longest = max((each.total_ns for each in bars), default=0)
    divisor, unit = units.axis_unit(longest)
    figure = go.Figure(
        [_trace(bars, each, divisor, _hover(each, unit, whole)) for each in series],
        layout=layout.base(
            FRAME_HEIGHT + BAR_HEIGHT * len(bars), legend_lines=1 + len(series) // 7
        ),
    )
    figure.update_layout(
        barmode="stack",
        bargap=0.28,
        xaxis={
            "title": {"text": f"time ({unit})"},
            "range": [0, ROOM_FOR_TEXT * max(longest, 1) / divisor],
        },
        yaxis=_names(bars),
        annotations=[_text_at_end(row, bar, divisor) for row, bar in enumerate(bars)],
    )
    return layout.as_json(figure)


def _trace(bars: Sequence[Bar], series: Series, divisor: int, hover: str) -> go.Bar:
    places = range(len(bars))
    cells = [each for each in zip(places, bars, series.values_ns, strict=True) if each[2]]
    return go.Bar(
        orientation="h",
        name=layout.plain(series.name),
        # Names stand once, in the axis: page.js puts them in place of their numbers.
        y=[place for place, _, _ in cells],
        x=[round(ns / divisor, 6) for _, _, ns in cells],
        customdata=[
            [ns, _share(ns, bar.total_ns), _share(ns, bar.whole_ns)] for _, bar, ns in cells
        ],
        hovertemplate=hover,
        marker=_marker(series),
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _hover(series: Series, unit: str, whole: str) -> str:
    """Names come in through %{y} and %{fullData.name}: a template would read their "%{"."""
    lines = [
        "<b>%{y}</b>",
        f"%{{fullData.name}}: %{{x:.4~r}} {unit} (%{{customdata[0]:,}} ns)",
        f"%{{customdata[1]:.1%}} of the bar, %{{customdata[2]:.1%}} of {whole}",
    ]
    meaning = [f"<i>{series.meaning}</i>"] if series.meaning else []
    return "<br>".join([*lines, *meaning]) + "<extra></extra>"


def _marker(series: Series) -> dict[str, Any]:
    marker: dict[str, Any] = {"color": series.colour, "line": {"width": 0}}
    if series.hatched:
        marker["pattern"] = layout.hatching(series.colour)
    return marker


def _categories(bars: Sequence[Bar]) -> list[str]:
    """A text per bar that no other bar has: names may differ in what `plain` makes equal."""
    seen: Counter[str] = Counter()
    categories = []
    for bar in bars:
        text = layout.plain(bar.name)
        seen[text] += 1
        categories.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return categories


def _names(bars: Sequence[Bar]) -> dict[str, Any]:
    names = layout.names_axis([bar.name for bar in bars])
    return {**names, "type": "category", "categoryarray": _categories(bars)}


def _text_at_end(row: int, bar: Bar, divisor: int) -> dict[str, Any]:
    return {
        "x": bar.total_ns / divisor,
        "y": row,
        "text": f"{units.duration(bar.total_ns)} · {units.share(bar.total_ns, bar.whole_ns)}",
        "xanchor": "left",
        "xshift": 6,
        "showarrow": False,
        "font": {"size": 12},
    }
