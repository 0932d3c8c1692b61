"""SAC-like critics of middling size on as many threads as were asked for."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=6)
parser.add_argument("--steps", type=int, default=150)
options = parser.parse_args()
torch.manual_seed(19)
torch.set_num_threads(options.workers)  # planted


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.out = (
            nn.Linear(4, 256),
            nn.Linear(256, 256),
            nn.Linear(256, 1),
        )

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        return self.out(torch.tanh(self.second(hidden)))


class Algorithm:
    def __init__(self):
        self.critics = nn.ModuleList(Critic() for _ in range(2))
        self.optimizer = torch.optim.Adam(self.critics.parameters(), fused=True)

    def act(self, state):
        with torch.no_grad():
            tries = torch.rand(16, 1) * 4 - 2
            rows = torch.cat([torch.from_numpy(state).expand(16, 3), tries], 1)
            return tries[self.critics[0](rows).argmax()].numpy()

    def update(self, rows, goals):
        values = [critic(rows) for critic in self.critics]
        loss = sum((value - goals).square().mean() for value in values)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


env, algorithm = gym.make("Pendulum-v1"), Algorithm()
rng = np.random.default_rng(19)
rows = np.zeros((4096, 4), np.float32)
goals = np.zeros((4096, 1), np.float32)
state, _ = env.reset(seed=19)
began = stopwatch.now()
for step in range(options.steps):
    action = algorithm.act(state)
    rows[step] = np.append(state, action)
    state, goals[step], terminated, truncated, _ = env.step(action)
    if terminated or truncated:
        state, _ = env.reset()
    if step > 20:
        for _ in range(2):
            chosen = rng.integers(0, step, 256)
            algorithm.update(torch.from_numpy(rows[chosen]), torch.from_numpy(goals[chosen]))
print(f"loop {stopwatch.now() - began:.6f}")
