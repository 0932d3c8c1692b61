"""A forward and a backward with as many threads as the program uses, and with one.

Settings: `each_ns`, how long a layer takes the program; `threads`, how many it uses, null: as many
as PyTorch takes by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Way = Callable[[], object]

_BATCH = 128


def make(settings: dict[str, Any], largest: Callable[..., int]) -> tuple[Way, Way]:
    import torch

    threads = settings["threads"] or torch.get_num_threads()
    torch.set_num_threads(threads)
    width = largest(16, 2048, settings["each_ns"], lambda width: _learning(torch, width)[0])
    _, learn = _learning(torch, width)

    def with_threads(count: int) -> Way:
        def learn_with() -> None:
            torch.set_num_threads(count)
            learn()

        return learn_with

    return with_threads(threads), with_threads(1)


def _learning(torch: Any, width: int) -> tuple[Way, Way]:
    network = torch.nn.Sequential(
        torch.nn.Linear(width, width), torch.nn.Tanh(), torch.nn.Linear(width, width)
    )
    batch = torch.zeros(_BATCH, width)

    def learn() -> None:
        network(batch).sum().backward()

    return lambda: network[0](batch), learn
