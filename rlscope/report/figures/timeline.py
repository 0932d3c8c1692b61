"""A process over time: stacked areas per layer above a heat strip per operation.

    100 % |####====----|   share of each bucket, by layer
      0 % |____________|
inference |##  ##  ##  |   share of each bucket that the operation owned
 backprop |  ##  ##  ##|
          0 s ... 12 s     one time axis for both: zooming one zooms the other
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rlscope.report import palette, units
from rlscope.report.figures import layout
from rlscope.report.panel import Figure

AREA_HEIGHT = 190
STRIP_HEIGHT = 26
FRAME_HEIGHT = 105


@dataclass(frozen=True)
class Axis:
    """Buckets of equal width; times count from the start of the run."""

    first_ns: int
    bucket_ns: int
    buckets: int


@dataclass(frozen=True)
class Track:
    """A duration per bucket, of one layer or one operation."""

    name: str
    values_ns: Sequence[int]
    colour: str = palette.ACCENT
    hatched: bool = False


def timeline(axis: Axis, layers: Sequence[Track], operations: Sequence[Track]) -> Figure:
    """Areas of `layers`, strips of `operations` in their order from the top."""
    divisor, unit = units.axis_unit(axis.first_ns + axis.buckets * axis.bucket_ns)
    strips = max(STRIP_HEIGHT * len(operations), 1)
    height = AREA_HEIGHT + strips
    figure = go.Figure(
        [_area(axis, each, divisor) for each in layers],
        layout=layout.base(FRAME_HEIGHT + height, legend_lines=1 + len(layers) // 6),
    )
    if operations:
        figure.add_trace(_strips(axis, operations, divisor))
    figure.update_layout(
        hovermode="x",
        xaxis={"title": {"text": f"time since the run began ({unit})"}, "anchor": "y2"},
        yaxis={
            "domain": [min(strips / height + 0.04, 0.9), 1],
            "range": [0, 1],
            "tickformat": ".0%",
            "title": {"text": "share of time"},
            "automargin": True,
        },
        yaxis2={
            **layout.names_axis([each.name for each in operations]),
            "domain": [0, strips / height],
        },
    )
    return layout.as_json(figure)


def _shares(axis: Axis, track: Track) -> NDArray[np.float32]:
    # Four bytes a bucket: a share drawn on a few hundred pixels needs no more.
    shares = np.asarray(track.values_ns, dtype=np.float64) / axis.bucket_ns
    return shares.astype(np.float32)


def _percents(axis: Axis, track: Track) -> NDArray[np.uint8]:
    # One byte: the strip's colour shows no finer shares. What is there at all is at least 1 %.
    percents = np.ceil(100 * _shares(axis, track))
    return np.minimum(percents, 100).astype(np.uint8)


def _area(axis: Axis, track: Track, divisor: int) -> go.Scatter:
    shares = _shares(axis, track)
    # Steps end where the next begins, so the last bucket is repeated at its end.
    return go.Scatter(
        name=layout.plain(track.name),
        x0=axis.first_ns / divisor,
        dx=axis.bucket_ns / divisor,
        y=np.append(shares, shares[-1:]),
        stackgroup="layers",
        mode="lines",
        line={"width": 0, "shape": "hv", "color": track.colour},
        fillcolor=track.colour,
        fillpattern=layout.hatching(track.colour) if track.hatched else None,
        showlegend=True,
        hovertemplate="%{y:.1%}",
    )


def _strips(axis: Axis, operations: Sequence[Track], divisor: int) -> go.Heatmap:
    return go.Heatmap(
        z=np.stack([_percents(axis, each) for each in operations]),
        x0=(axis.first_ns + axis.bucket_ns / 2) / divisor,
        dx=axis.bucket_ns / divisor,
        xaxis="x",
        yaxis="y2",
        zmin=0,
        zmax=100,
        colorscale=[[0, "rgba(0,114,178,0)"], [1, "rgba(0,114,178,1)"]],
        showscale=False,
        ygap=3,
        hovertemplate="%{z} % of the bucket<extra></extra>",
    )
