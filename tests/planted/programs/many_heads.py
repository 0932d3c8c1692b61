"""An ensemble of value heads: each gradient step updates hundreds of small parameters."""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import Tensor, nn

HEADS = 24


class Ensemble(nn.Module):
    """Independent small critics, evaluated together as one batched product."""

    def __init__(self) -> None:
        super().__init__()
        make = lambda *shape: nn.ParameterList(  # noqa: E731
            nn.Parameter(torch.randn(*shape) / 8) for _ in range(HEADS)
        )
        self.first, self.first_bias = make(4, 24), make(24)
        self.second, self.second_bias = make(24, 24), make(24)
        self.last, self.last_bias = make(24, 2), make(2)

    def forward(self, observation: Tensor) -> Tensor:
        stack = lambda some: torch.stack(tuple(some))  # noqa: E731
        hidden = observation.expand(HEADS, *observation.shape)
        hidden = (hidden @ stack(self.first) + stack(self.first_bias)[:, None]).relu()
        hidden = (hidden @ stack(self.second) + stack(self.second_bias)[:, None]).relu()
        return hidden @ stack(self.last) + stack(self.last_bias)[:, None]


class Training:
    def __init__(self, fused: bool) -> None:
        self.random = np.random.default_rng(7)
        self.env = gym.make("CartPole-v1")
        self.values = Ensemble()
        self.optimizer = torch.optim.AdamW(self.values.parameters(), lr=5e-4, fused=fused)
        self.memory = np.zeros((4096, 11), np.float32)

    def choose(self, observation: np.ndarray, step: int) -> int:
        if self.random.random() < 0.2:
            return int(self.random.integers(2))
        with torch.inference_mode():
            return int(self.values(torch.from_numpy(observation)[None]).mean(0).argmax())

    def update(self, rows: np.ndarray) -> None:
        batch = torch.from_numpy(rows)
        before, action, reward, done, after = batch.split([4, 1, 1, 1, 4], 1)
        with torch.no_grad():
            goal = reward + 0.98 * (1 - done) * self.values(after).max(-1, keepdim=True).values
        index = action.long().expand(HEADS, -1, -1)
        loss = (self.values(before).gather(-1, index) - goal).square().mean((1, 2)).sum()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()  # planted

    def run(self, steps: int) -> None:
        observation, _ = self.env.reset(seed=7)
        for step in range(steps):
            action = self.choose(observation, step)
            after, reward, terminated, truncated, _ = self.env.step(action)
            self.memory[step % 4096] = *observation, action, reward, terminated, *after
            observation = self.env.reset()[0] if terminated or truncated else after
            if step >= 32:
                self.update(self.memory[self.random.integers(0, step, 32)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fused", action="store_true")
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    torch.manual_seed(7)
    torch.set_num_threads(1)
    training = Training(options.fused)
    began = stopwatch.now()
    training.run(options.steps)
    print(f"loop {stopwatch.now() - began:.6f}")
