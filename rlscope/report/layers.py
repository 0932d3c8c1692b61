"""Layers in the order and by the names in which every chart shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rlscope.report import palette, views

if TYPE_CHECKING:
    from rlscope.report.figures.bars import Series


def label(layer: str, gpu_busy: bool) -> str:
    """A layer's name in a legend: with "+ gpu" for the time in which the GPU worked too."""
    shown = "no layer" if layer == "none" else layer
    return f"{shown} + gpu" if gpu_busy else shown


def ordered(states: Iterable[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """(layer, gpu_busy) in the palette's order, those it does not know last."""
    known = list(palette.LAYERS)

    def place(state: tuple[str, bool]) -> tuple[int, str, bool]:
        layer, busy = state
        return (known.index(layer) if layer in known else len(known), layer, busy)

    return sorted(set(states), key=place)


def series(
    rows: views.Rows, key: str, names: Sequence[str], *, time: str = "duration_ns"
) -> list[Series]:
    """One series per layer and GPU activity in `rows`, with the value of column `time` for each of
    `names`, the values of column `key`."""
    from rlscope.report.figures.bars import Series  # plotly; rls-prof starts with this module

    cells = {(row["layer"], row["gpu_busy"], row[key]): row[time] for row in rows}
    return [
        Series(
            name=label(layer, busy),
            colour=palette.layer_colour(layer),
            values_ns=[cells.get((layer, busy, name), 0) for name in names],
            hatched=busy,
            meaning=palette.LAYER_MEANING.get(layer, ""),
        )
        for layer, busy in ordered((layer, busy) for layer, busy, _ in cells)
    ]
