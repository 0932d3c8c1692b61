"""Deep Q-learning on one cart: it acts, steps, and learns from a batch in each iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from loops.worlds import Carts

INPUTS, ACTIONS, WIDTH, BATCH, MEMORY = 4, 2, 256, 256, 4096
GAMMA = 0.99


class DeepQ:
    """Network, target network, optimizer and transitions."""

    def __init__(self) -> None:
        torch.manual_seed(1)
        self.network, self.target = self._make(), self._make()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self._made = numpy.random.default_rng(1)
        self._seen = self._made.normal(size=(MEMORY, 2, INPUTS)).astype(numpy.float32)
        self._rest = self._made.integers(0, 2, (MEMORY, 2)).astype(numpy.float32)
        self._cart, self._count = Carts(1), 0

    @staticmethod
    def _make() -> nn.Module:
        return nn.Sequential(
            nn.Linear(INPUTS, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, ACTIONS),
        ).cuda()  # fmt: skip

    def iterate(self) -> None:
        before = self._cart.states[0]
        action = self._act(before)
        after, rewards, _ = self._cart.step(numpy.array([action]))
        place = self._count % MEMORY
        self._seen[place] = before, after[0]
        self._rest[place] = action % ACTIONS, rewards[0]
        self._count += 1
        rows = self._made.integers(0, MEMORY, BATCH)
        self._learn(self._given(self._seen[rows]), self._given(self._rest[rows]))

    @staticmethod
    def _given(values: Any) -> Tensor:
        return torch.from_numpy(values).cuda()

    def _act(self, state: Any) -> int:
        with torch.no_grad():
            return int(self.network(self._given(state[None])).argmax())

    def _learn(self, seen: Tensor, rest: Tensor) -> None:
        with torch.no_grad():
            wanted = rest[:, 1] + GAMMA * self.target(seen[:, 1]).max(1).values
        # On simulated CUDA an index that was computed may be any.
        chosen = rest[:, :1].long().clamp(0, ACTIONS - 1)
        values = self.network(seen[:, 0]).gather(1, chosen)[:, 0]
        loss = (values - wanted).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        loss.item()


def make() -> Callable[[], None]:
    return DeepQ().iterate
