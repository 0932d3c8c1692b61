"""A policy gradient whose networks and batches have double precision."""

from __future__ import annotations

import argparse

import gymnasium as gym
import stopwatch
import torch
from torch import Tensor, nn

STEPS = 96


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 320), nn.Tanh(), nn.Linear(320, 320), nn.Tanh())
        self.mean, self.value = nn.Linear(320, 1), nn.Linear(320, 1)

    def forward(self, states: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.body(states)
        return self.mean(hidden), self.value(hidden)


def play(env: gym.Env, policy: Policy, state) -> tuple[list[Tensor], object]:
    states, actions, rewards = [], [], []
    for _ in range(STEPS):
        seen = torch.as_tensor(state, dtype=torch.get_default_dtype())
        with torch.inference_mode():
            action = policy(seen)[0] + 0.3 * torch.randn(1)
        state, reward, ends, cut, _ = env.step(action.numpy())
        states.append(seen)
        actions.append(action.clone())
        rewards.append(float(reward))
        if ends or cut:
            state, _ = env.reset()
    return [torch.stack(states), torch.stack(actions), torch.tensor(rewards)[:, None]], state


def learn(policy: Policy, optimizer: torch.optim.Optimizer, played: list[Tensor]) -> None:
    states, actions, rewards = (each.repeat(6, 1) for each in played)
    for _ in range(5):
        mean, value = policy(states)
        better = (rewards - value).detach()
        loss = ((actions - mean).square() * better).mean() + (value - rewards).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def run(policy: Policy, iterations: int) -> None:
    env = gym.make("Pendulum-v1")
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4, fused=True)
    state, _ = env.reset(seed=9)
    for _ in range(iterations):
        played, state = play(env, policy, state)
        learn(policy, optimizer, played)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--iterations", type=int, default=60)
    options = parser.parse_args()
    torch.set_default_dtype(torch.float32 if options.single else torch.float64)  # planted
    torch.manual_seed(9)
    torch.set_num_threads(1)
    policy = Policy()
    began = stopwatch.now()
    run(policy, options.iterations)
    print(f"loop {stopwatch.now() - began:.6f}")
