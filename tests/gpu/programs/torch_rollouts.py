"""REINFORCE on a cart with a pole, the policy on the GPU: a fixed number of updates.

python torch_rollouts.py UPDATES     gymnasium's CartPole, where it is not installed one like it
"""

from __future__ import annotations

import importlib.util
import math
import random
import sys
import time
from typing import Any

import torch
from driver import say
from torch import nn

import rlscope as rls

STEPS = 64  # of a rollout
SEED = 1


class Cart:
    """A pole on a cart that is pushed to either side: Barto, Sutton and Anderson, 1983."""

    def reset(self, seed: int | None = None) -> tuple[list[float], dict[str, Any]]:
        if seed is not None:
            random.seed(seed)
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        return self.state, {}

    def step(self, action: int) -> tuple[list[float], float, bool, bool, dict[str, Any]]:
        _, speed, angle, turning = self.state
        push = 10.0 if action else -10.0
        sine, cosine = math.sin(angle), math.cos(angle)
        swing = (push + 0.05 * turning**2 * sine) / 1.1
        fall = (9.8 * sine - cosine * swing) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        drive = swing - 0.05 * fall * cosine / 1.1
        rates = (speed, drive, turning, fall)
        self.state = [value + 0.02 * rate for value, rate in zip(self.state, rates, strict=True)]
        ended = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return self.state, 1.0, ended, False, {}


def environment() -> Any:
    if importlib.util.find_spec("gymnasium") is None:
        return Cart()
    import gymnasium

    return gymnasium.make("CartPole-v1")


class Agent:
    """A policy, and what it saw in one rollout."""

    def __init__(self) -> None:
        torch.manual_seed(SEED)
        self.policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2)).cuda()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)
        self.carts = environment()
        self.state, _ = self.carts.reset(seed=SEED)

    def rollout(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Logarithms of the chances of what was done, and rewards to go."""
        chances, rewards = [], []
        for _ in range(STEPS):
            with rls.operation("inference"):
                state = torch.as_tensor(self.state, dtype=torch.float32, device="cuda")
                choice = torch.distributions.Categorical(logits=self.policy(state))
                action = choice.sample()
                chances.append(choice.log_prob(action))
                pushed = int(action)
            with rls.operation("simulation"):
                self.state, reward, ended, cut, _ = self.carts.step(pushed)
                rewards.append(float(reward))
                if ended or cut:
                    self.state, _ = self.carts.reset()
        returns = torch.tensor(rewards, device="cuda").flip(0).cumsum(0).flip(0)
        return torch.stack(chances), returns

    def update(self) -> None:
        rls.iteration()
        chances, returns = self.rollout()
        with rls.operation("backprop"):
            loss = -(chances * (returns - returns.mean())).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def main(updates: int) -> None:
    agent = Agent()
    agent.update()
    torch.cuda.synchronize()
    begin, begin_cpu = time.monotonic_ns(), time.process_time_ns()
    for _ in range(updates):
        agent.update()
    torch.cuda.synchronize()
    say(wall_ns=time.monotonic_ns() - begin, cpu_ns=time.process_time_ns() - begin_cpu)


if __name__ == "__main__":
    main(int(sys.argv[1]))
