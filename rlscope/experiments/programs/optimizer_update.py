"""An update of one parameter after the other, and the same with fused, else with foreach.

Settings: `optimizer`, a class of torch.optim in lower case; `tensors`, how many parameters;
`each_ns`, how long one operator on one of them takes the program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Way = Callable[[], object]


def make(settings: dict[str, Any], largest: Callable[..., int]) -> tuple[Way, Way]:
    import torch

    torch.set_num_threads(1)

    kinds = {name.lower(): kind for name, kind in vars(torch.optim).items()}
    kind = kinds[settings["optimizer"]]

    def one_operator(elements: int) -> Way:
        given = torch.ones(elements)
        return lambda: given.addcdiv_(given, given)

    size = largest(64, 1 << 16, settings["each_ns"], one_operator)
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
