"""An environment checks its actions against a space, which each step makes, or the constructor."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--made-once", action="store_true")
parser.add_argument("--steps", type=int, default=12_000)
options = parser.parse_args()


class Springs(gym.Env):
    def __init__(self):
        self.observation_space = self.seen_space()
        self.action_space = self.push_space()

    def seen_space(self):
        high = np.full(8, np.inf, np.float32)
        return gym.spaces.Box(-high, high)

    def push_space(self):
        return gym.spaces.Box(-1.0, 1.0, (4,), np.float32)  # planted

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.age = self.np_random.normal(0, 1, 8).astype(np.float32), 0
        return self.state.copy(), {}

    def step(self, action):
        space = self.action_space if options.made_once else self.push_space()  # planted
        if not space.contains(action):
            action = action.clip(-1, 1)
        places, speeds = self.state[:4], self.state[4:]
        speeds += 0.05 * (2 * action - places)
        places += 0.05 * speeds
        self.age += 1
        return self.state.copy(), -float(places @ places), False, self.age >= 200, {}


torch.manual_seed(2)
torch.set_num_threads(1)
rng = np.random.default_rng(2)
policy = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(policy.parameters(), 1e-2, fused=True)
env = Springs()
seen, _ = env.reset(seed=2)
began = stopwatch.now()
rows = []
for _step in range(options.steps):
    with torch.no_grad():
        mean = policy(torch.from_numpy(seen)).numpy()
    action = mean + rng.normal(0, 0.3, 4).astype(np.float32)
    after, reward, _, cut, _ = env.step(action)
    rows.append((seen, action, reward))
    seen = env.reset()[0] if cut else after
    if len(rows) == 200:
        states, actions, rewards = (torch.from_numpy(np.stack(column)) for column in zip(*rows))
        goal = (rewards - rewards.mean()).float()[:, None]
        loss = (goal * (actions - policy(states)).square()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rows = []
print(f"loop {stopwatch.now() - began:.6f}")
