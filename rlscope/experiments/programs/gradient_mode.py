"""Layers that record for autograd, and the same under torch.no_grad().

Settings: `each_ns`, how long a layer takes the program.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Way = Callable[[], object]

_LAYERS = 4


def make(settings: dict[str, Any]) -> tuple[Way, Way]:
    import torch

    torch.set_num_threads(1)

    width = 16
    while width < 2048 and _took_ns(_network(torch, 2 * width)) <= _LAYERS * settings["each_ns"]:
        width *= 2
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


def _took_ns(call: Way) -> int:
    took = []
    for _ in range(20):
        began = time.perf_counter_ns()
        call()
        took.append(time.perf_counter_ns() - began)
    return min(took)
