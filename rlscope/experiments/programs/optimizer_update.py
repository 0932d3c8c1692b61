"""An update of one parameter after the other, and the same with fused, else with foreach.

Settings: `optimizer`, a class of torch.optim in lower case; `tensors`, how many parameters;
`each_ns`, how long one operator on one of them takes the program.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Way = Callable[[], object]


def make(settings: dict[str, Any]) -> tuple[Way, Way]:
    import torch

    torch.set_num_threads(1)

    kinds = {name.lower(): kind for name, kind in vars(torch.optim).items()}
    kind = kinds[settings["optimizer"]]
    size = _size(torch, settings["each_ns"])
    tensors = settings["tensors"]
    return _stepping(torch, kind, size, tensors, False), _stepping(torch, kind, size, tensors, True)


def _stepping(torch: Any, kind: Any, size: int, tensors: int, is_advised: bool) -> Way:
    parameters = [torch.nn.Parameter(torch.ones(size)) for _ in range(max(int(tensors), 1))]
    for each in parameters:
        each.grad = torch.ones(size)
    if is_advised:
        try:
            made = kind(parameters, lr=1e-3, fused=True)
        except (TypeError, RuntimeError):
            made = kind(parameters, lr=1e-3, foreach=True)
    else:
        made = kind(parameters, lr=1e-3, foreach=False)
    return lambda: made.step()


def _size(torch: Any, each_ns: float) -> int:
    """Elements of a tensor of which an operator takes so long."""
    size = 64
    while size < 1 << 16:
        given = torch.ones(2 * size)
        took = []
        for _ in range(20):
            began = time.perf_counter_ns()
            given.addcdiv_(given, given)
            took.append(time.perf_counter_ns() - began)
        if min(took) > each_ns:
            break
        size *= 2
    return size
