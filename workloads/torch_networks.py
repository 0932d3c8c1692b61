"""The networks of DDPG, TD3 and SAC in PyTorch, and how slow copies follow them."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


def perceptron(inputs: int, outputs: int, hidden: int) -> nn.Sequential:
    """Two hidden layers of the same width."""
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, outputs),
    )


class Policy(nn.Module):  # type: ignore[misc]
    """One action for each observation, inside the bounds `middle` - `scale`, `middle` + `scale`."""

    def __init__(self, observations: int, scale: Any, middle: Any, hidden: int) -> None:
        super().__init__()
        self.layers = perceptron(observations, len(scale), hidden)
        self.register_buffer("scale", torch.as_tensor(scale))
        self.register_buffer("middle", torch.as_tensor(middle))

    def forward(self, observation: Tensor) -> Tensor:
        """Actions, shape (batch, actions)."""
        return self.middle + self.scale * self.layers(observation).tanh()


class Critic(nn.Module):  # type: ignore[misc]
    """The value of an action."""

    def __init__(self, observations: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.layers = perceptron(observations + actions, 1, hidden)

    def forward(self, observation: Tensor, action: Tensor) -> Tensor:
        """The value of each action in each observation, shape (batch,)."""
        return self.layers(torch.cat([observation, action], dim=-1)).squeeze(-1)


class Critics(nn.Module):  # type: ignore[misc]
    """Two estimates of the value of an action; the lower one is the less deceived."""

    def __init__(self, observations: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.first = Critic(observations, actions, hidden)
        self.second = Critic(observations, actions, hidden)

    def forward(self, observation: Tensor, action: Tensor) -> Tensor:
        """Both values of each action in each observation, shape (2, batch)."""
        return torch.stack([self.first(observation, action), self.second(observation, action)])


def follow(slow: Iterable[Tensor], fast: Iterable[Tensor], tau: float) -> None:
    """Moves each of the slow parameters by this part of its way to the fast one."""
    for behind, ahead in zip(slow, fast, strict=True):
        behind.lerp_(ahead, tau)
