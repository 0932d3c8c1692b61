"""A linear layer for one input at a time, and for all of them at once.

Settings: `calls`, how many inputs; `each_ns`, how long the layer takes the program for one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Way = Callable[[], object]


def make(settings: dict[str, Any]) -> tuple[Way, Way]:
    import torch

    torch.set_num_threads(1)

    torch.set_grad_enabled(False)
    layer = torch.nn.Linear(*[_width(torch, settings["each_ns"])] * 2)
    inputs = [torch.zeros(layer.in_features) for _ in range(max(int(settings["calls"]), 1))]

    def one_by_one() -> None:
        for each in inputs:
            layer(each)

    def at_once() -> None:
        layer(torch.stack(inputs))

    return one_by_one, at_once


def _width(torch: Any, each_ns: float) -> int:
    """A layer as wide as takes so long: arithmetic counts only where the program has some."""
    width = 16
    while width < 4096:
        layer, given = torch.nn.Linear(2 * width, 2 * width), torch.zeros(2 * width)
        if _least_ns(lambda: layer(given)) > each_ns:  # noqa: B023
            break
        width *= 2
    return width


def _least_ns(call: Way) -> int:
    took = []
    for _ in range(30):
        began = time.perf_counter_ns()
        call()
        took.append(time.perf_counter_ns() - began)
    return min(took)
