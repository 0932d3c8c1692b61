"""Double Q-learning whose memory is a deque of dataclasses or columns of an array."""

import argparse
import collections
import random
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--columns", action="store_true")
parser.add_argument("--steps", type=int, default=2700)
options = parser.parse_args()
torch.manual_seed(7)
torch.set_num_threads(1)
random.seed(7)


@dataclass
class Transition:
    before: np.ndarray
    action: int
    reward: float
    after: np.ndarray
    over: bool


class DequeMemory:
    def __init__(self, size):
        self.kept = collections.deque(maxlen=size)

    def push(self, transition):
        self.kept.append(transition)

    def draw(self, count):
        chosen = random.sample(self.kept, count)  # planted
        return (
            torch.from_numpy(np.array([t.before for t in chosen])),  # planted
            torch.from_numpy(np.array([t.action for t in chosen])),  # planted
            torch.from_numpy(np.array([t.reward for t in chosen], np.float32)),  # planted
            torch.from_numpy(np.array([t.after for t in chosen])),  # planted
            torch.from_numpy(np.array([t.over for t in chosen], np.float32)),  # planted
        )


class ColumnMemory:
    def __init__(self, size):
        self.before = np.zeros((size, 4), np.float32)
        self.after = np.zeros((size, 4), np.float32)
        self.action = np.zeros(size, np.int64)
        self.reward = np.zeros(size, np.float32)
        self.over = np.zeros(size, np.float32)
        self.rng = np.random.default_rng(7)
        self.count = 0

    def push(self, t):
        row = self.count % len(self.action)
        self.before[row], self.action[row], self.reward[row] = t.before, t.action, t.reward
        self.after[row], self.over[row] = t.after, t.over
        self.count += 1

    def draw(self, count):
        rows = self.rng.integers(0, min(self.count, len(self.action)), count)
        columns = (self.before, self.action, self.reward, self.after, self.over)
        return tuple(torch.from_numpy(column[rows]) for column in columns)


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, x):
        return self.net(x)


def train(env, memory):
    online, frozen = Q(), Q()
    optimizer = torch.optim.Adam(online.parameters(), fused=True)
    state, _ = env.reset(seed=7)
    for step in range(options.steps):
        with torch.no_grad():
            action = (
                random.randrange(2)
                if random.random() < 0.3
                else online(torch.from_numpy(state)).argmax().item()
            )
        after, reward, terminated, truncated, _ = env.step(action)
        memory.push(Transition(state, action, reward, after, terminated))
        state = env.reset()[0] if terminated or truncated else after
        if step < 300:
            continue
        before, actions, rewards, following, over = memory.draw(256)
        with torch.no_grad():
            best = online(following).argmax(1, keepdim=True)
            goal = rewards + 0.99 * (1 - over) * frozen(following).gather(1, best).squeeze(1)
        loss = (online(before).gather(1, actions[:, None]).squeeze(1) - goal).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            frozen.load_state_dict(online.state_dict())


memory = (ColumnMemory if options.columns else DequeMemory)(10000)
began = stopwatch.now()
train(gym.make("CartPole-v1"), memory)
print(f"loop {stopwatch.now() - began:.6f}")
