"""Soft actor-critic on small networks: many small launches in each step of the environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from loops.worlds import Point, finite

WIDTH, BATCH, MEMORY = 64, 128, 4096
GAMMA, TAU = 0.99, 0.005


def network(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(inputs, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
        nn.Linear(WIDTH, outputs),
    ).cuda()  # fmt: skip


def adam(parameters: Any) -> torch.optim.Adam:
    return torch.optim.Adam(parameters, lr=3e-4)


class SoftActorCritic:
    """An actor, two critics with their targets, and a temperature that is learned."""

    def __init__(self) -> None:
        torch.manual_seed(1)
        inputs, actions = Point.INPUTS, Point.ACTIONS
        self.actor = network(inputs, 2 * actions)
        self.critics = [network(inputs + actions, 1) for _ in range(2)]
        self.targets = [network(inputs + actions, 1) for _ in range(2)]
        self.temperature = torch.zeros(1, device="cuda", requires_grad=True)
        self._of_actor, self._of_temperature = (
            adam(self.actor.parameters()),
            adam([self.temperature]),
        )
        self._of_critics = adam([each for one in self.critics for each in one.parameters()])
        self._made, self._point, self._count = numpy.random.default_rng(1), Point(), 0
        self._memory = self._made.normal(size=(MEMORY, 2 * inputs + actions + 1))
        self._memory = self._memory.astype(numpy.float32)

    def iterate(self) -> None:
        before = self._point.state
        with torch.no_grad():
            action, _ = self._choose(torch.from_numpy(before[None]).cuda())
            chosen = finite(action[0].cpu().numpy())
        after, reward = self._point.step(chosen)
        self._memory[self._count % MEMORY] = numpy.concatenate([before, after, chosen, [reward]])
        self._count += 1
        batch = torch.from_numpy(self._memory[self._made.integers(0, MEMORY, BATCH)]).cuda()
        self._learn(*batch.split([Point.INPUTS, Point.INPUTS, Point.ACTIONS, 1], 1))

    def _choose(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Actions, squashed, and the logarithm of their density."""
        mean, width = self.actor(states).chunk(2, 1)
        deviation = width.clamp(-5, 2).exp()
        raw = mean + deviation * torch.randn_like(mean)
        action = raw.tanh()
        density = -0.5 * ((raw - mean) / deviation).square() - deviation.log()
        density = density - (1 - action.square() + 1e-6).log()
        return action, density.sum(1, keepdim=True)

    def _worth(self, critics: list[nn.Module], states: Tensor, actions: Tensor) -> list[Tensor]:
        given = torch.cat([states, actions], 1)
        return [critic(given) for critic in critics]

    def _learn(self, states: Tensor, after: Tensor, actions: Tensor, rewards: Tensor) -> None:
        self._learn_critics(states, after, actions, rewards)
        density = self._learn_actor(states)
        self._minimise(self._of_temperature, -(self.temperature.exp() * (density - 2)).mean())
        for critic, target in zip(self.critics, self.targets, strict=True):
            for new, old in zip(critic.parameters(), target.parameters(), strict=True):
                old.data.copy_(TAU * new.data + (1 - TAU) * old.data)

    def _learn_critics(
        self, states: Tensor, after: Tensor, actions: Tensor, rewards: Tensor
    ) -> None:
        with torch.no_grad():
            chosen, density = self._choose(after)
            least = torch.minimum(*self._worth(self.targets, after, chosen))
            wanted = rewards + GAMMA * (least - self.temperature.exp() * density)
        losses = [(v - wanted).square().mean() for v in self._worth(self.critics, states, actions)]
        self._minimise(self._of_critics, losses[0] + losses[1])

    def _learn_actor(self, states: Tensor) -> Tensor:
        chosen, density = self._choose(states)
        least = torch.minimum(*self._worth(self.critics, states, chosen))
        self._minimise(self._of_actor, (self.temperature.exp().detach() * density - least).mean())
        return density.detach()

    @staticmethod
    def _minimise(optimizer: torch.optim.Adam, loss: Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def make() -> Callable[[], None]:
    return SoftActorCritic().iterate
