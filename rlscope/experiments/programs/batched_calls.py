"""A linear layer for one input at a time, and for all of them at once.

Settings: `calls`, how many inputs; `each_ns`, how long the layer takes the program for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Way = Callable[[], object]


def make(settings: dict[str, Any], largest: Callable[..., int]) -> tuple[Way, Way]:
    import torch

    torch.set_num_threads(1)

    torch.set_grad_enabled(False)

    def one_call(width: int) -> Way:
        given = torch.nn.Linear(width, width), torch.zeros(width)
        return lambda: given[0](given[1])

    width = largest(16, 4096, settings["each_ns"], one_call)
    layer = torch.nn.Linear(width, width)
    inputs = [torch.zeros(layer.in_features) for _ in range(max(int(settings["calls"]), 1))]

    def one_by_one() -> None:
        for each in inputs:
            layer(each)

    def at_once() -> None:
        layer(torch.stack(inputs))

    return one_by_one, at_once
