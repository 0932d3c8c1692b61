"""Q-learning that reads the mean of each weight and the norm of each gradient in each update, or in
one of a hundred."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--steps", type=int, default=5000)
options = parser.parse_args()
torch.manual_seed(12)
torch.set_num_threads(1)
rng = np.random.default_rng(12)
network = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(network.parameters(), 1e-3, fused=True)
env = gym.make("CartPole-v1")
memory = [np.zeros((1000, *shape), kind) for shape, kind in (
    ((4,), np.float32), ((), np.int64), ((), np.float32), ((4,), np.float32))]  # fmt: skip


def learn(rows):
    seen, action, reward, after = (torch.from_numpy(column[rows]) for column in memory)
    with torch.no_grad():
        goal = reward + 0.99 * network(after).amax(1)
    loss = (network(seen).gather(1, action[:, None])[:, 0] - goal).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def tell():
    told = {}
    for name, weight in network.named_parameters():  # planted
        told[f"{name}/mean"] = weight.detach().mean().item()  # planted
        told[f"{name}/gradient"] = weight.grad.norm().item()  # planted
    return told


seen, _ = env.reset(seed=12)
kept = []
began = stopwatch.now()
for step in range(options.steps):
    action = int(rng.integers(2))
    after, reward, ended, cut, _ = env.step(action)
    for column, value in zip(memory, (seen, action, reward, after), strict=True):
        column[step % 1000] = value
    seen = env.reset()[0] if ended or cut else after
    if step >= 64:
        learn(rng.integers(0, min(step, 1000), 32))
        if step % options.every == 0:
            kept.append(tell())
print(f"loop {stopwatch.now() - began:.6f}")
