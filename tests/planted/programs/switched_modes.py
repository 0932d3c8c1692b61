"""A deep network is put into evaluation for each action and into training for each update, or is
left as it is: it has no layer for which that matters."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--leave", action="store_true")
parser.add_argument("--steps", type=int, default=5000)
options = parser.parse_args()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU())

    def forward(self, x):
        return x + self.inner(x)


torch.manual_seed(11)
torch.set_num_threads(1)
rng = np.random.default_rng(11)
network = nn.Sequential(nn.Linear(4, 32), *[Block(32) for _ in range(6)], nn.Linear(32, 2))
optimizer = torch.optim.Adam(network.parameters(), 1e-3, fused=True)
env = gym.make("CartPole-v1")


def act(seen):
    if not options.leave:
        network.eval()  # planted
    with torch.no_grad():
        return int(network(torch.from_numpy(seen)[None]).argmax())


def learn(states, actions, rewards):
    if not options.leave:
        network.train()  # planted
    chosen = network(states).log_softmax(1).gather(1, actions[:, None])[:, 0]
    loss = -(chosen * (rewards - rewards.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


seen, _ = env.reset(seed=11)
rows = []
began = stopwatch.now()
for _step in range(options.steps):
    action = act(seen) if rng.random() > 0.1 else int(rng.integers(2))
    after, reward, ended, cut, _ = env.step(action)
    rows.append((seen, action, reward))
    seen = env.reset()[0] if ended or cut else after
    if len(rows) == 32:
        learn(*(torch.from_numpy(np.array(column)) for column in zip(*rows, strict=True)))
        rows = []
print(f"loop {stopwatch.now() - began:.6f}")
