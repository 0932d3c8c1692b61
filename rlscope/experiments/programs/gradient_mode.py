"""Layers that record for autograd, and the same under torch.no_grad().

Settings: `each_ns`, how long a layer takes the program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Way = Callable[[], object]

_LAYERS = 4


def make(settings: dict[str, Any], largest: Callable[..., int]) -> tuple[Way, Way]:
    import torch

    torch.set_num_threads(1)

    all_ns = _LAYERS * settings["each_ns"]
    width = largest(16, 2048, all_ns, lambda width: _network(torch, width))
    recording = _network(torch, width)

    def without() -> None:
        with torch.no_grad():
            recording()

    return recording, without


def _network(torch: Any, width: int) -> Way:
    layers = [torch.nn.Linear(width, width) for _ in range(_LAYERS)]
    network = torch.nn.Sequential(*(part for layer in layers for part in (layer, torch.nn.ReLU())))
    given = torch.zeros(width)
    return lambda: network(given)
