"""A critic whose layers are divided by their largest singular value, computed for each update, or
estimated by one step of the power method."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn
from torch.nn.functional import linear, normalize

parser = argparse.ArgumentParser()
parser.add_argument("--power", action="store_true")
parser.add_argument("--steps", type=int, default=1200)
options = parser.parse_args()


class Bounded(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.layer = nn.Linear(inputs, outputs)
        self.register_buffer("left", normalize(torch.randn(outputs), dim=0))

    def largest(self):
        weight = self.layer.weight
        if not options.power:
            return torch.linalg.svdvals(weight)[0]  # planted
        with torch.no_grad():
            right = normalize(self.left @ weight, dim=0)
            self.left.copy_(normalize(weight @ right, dim=0))
        return self.left @ weight @ right

    def forward(self, x):
        return linear(x, self.layer.weight / self.largest(), self.layer.bias)


torch.manual_seed(6)
torch.set_num_threads(1)
rng = np.random.default_rng(6)
critic = nn.Sequential(Bounded(4, 64), nn.ReLU(), Bounded(64, 64), nn.ReLU(), Bounded(64, 2))
optimizer = torch.optim.Adam(critic.parameters(), 1e-3, fused=True)
env = gym.make("CartPole-v1")
memory = [np.zeros((1000, *shape), kind) for shape, kind in (
    ((4,), np.float32), ((), np.int64), ((), np.float32), ((4,), np.float32))]  # fmt: skip
seen, _ = env.reset(seed=6)
began = stopwatch.now()
for step in range(options.steps):
    action = int(rng.integers(2))
    after, reward, ended, cut, _ = env.step(action)
    for column, value in zip(memory, (seen, action, reward, after), strict=True):
        column[step % 1000] = value
    seen = env.reset()[0] if ended or cut else after
    if step >= 32:
        rows = rng.integers(0, min(step, 1000), 32)
        state, chosen, gain, following = (torch.from_numpy(column[rows]) for column in memory)
        with torch.no_grad():
            goal = gain + 0.99 * critic(following).amax(1)
        loss = (critic(state).gather(1, chosen[:, None])[:, 0] - goal).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
