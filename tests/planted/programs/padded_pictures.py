"""Q-learning of pictures, each of which is moved by a few pixels before it is learnt from."""

import argparse

import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--at-once", action="store_true")
parser.add_argument("--updates", type=int, default=150)
options = parser.parse_args()
torch.manual_seed(4)
torch.set_num_threads(1)
SIDE, PAD = 24, 3


class Pictures:
    def __init__(self, rows=4000):
        self.rng = np.random.default_rng(4)
        self.seen = self.rng.integers(0, 255, (rows, SIDE, SIDE), dtype=np.uint8)
        self.actions = self.rng.integers(0, 4, rows)
        self.rewards = self.rng.random(rows, dtype=np.float32)

    def moved(self, batch):
        at = self.rng.integers(0, 2 * PAD + 1, (len(batch), 2))
        if options.at_once:
            wide = np.pad(batch, ((0, 0), (PAD, PAD), (PAD, PAD)), mode="edge")
            parts = np.lib.stride_tricks.sliding_window_view(wide, (SIDE, SIDE), axis=(1, 2))
            return parts[np.arange(len(batch)), at[:, 0], at[:, 1]]
        moved = np.empty_like(batch)
        for row in range(len(batch)):
            wide = np.pad(batch[row], PAD, mode="edge")  # planted
            top, left = at[row]
            moved[row] = wide[top : top + SIDE, left : left + SIDE]
        return moved

    def batch(self, size):
        rows = self.rng.integers(0, len(self.actions) - 1, size)
        arrays = self.moved(self.seen[rows]), self.actions[rows], self.rewards[rows]
        return [torch.from_numpy(each) for each in (*arrays, self.moved(self.seen[rows + 1]))]


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 4, 4), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(8 * 36, 4)

    def forward(self, seen):
        return self.head(self.body(seen[:, None].float() / 255))


class Learner:
    def __init__(self):
        self.net, self.old = Critic(), Critic()
        self.old.load_state_dict(self.net.state_dict())
        self.optimizer = torch.optim.Adam(self.net.parameters(), 1e-3, fused=True)

    def learn(self, before, actions, rewards, after):
        with torch.no_grad():
            goals = rewards + 0.9 * self.old(after).amax(1)
        values = self.net(before).gather(1, actions[:, None]).squeeze(1)
        loss = nn.functional.mse_loss(values, goals)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


pictures, learner = Pictures(), Learner()
began = stopwatch.now()
for _ in range(options.updates):
    learner.learn(*pictures.batch(64))
print(f"loop {stopwatch.now() - began:.6f}")
