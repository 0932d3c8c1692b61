"""A DQN trainer that keeps its newest weights on disk in case it is interrupted."""

import argparse
import os
import tempfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn


class Trainer:
    def __init__(self, folder: Path, save_every: int) -> None:
        self.folder, self.save_every = folder, save_every
        self.rng = np.random.default_rng(4)
        self.env = gym.make("Acrobot-v1")
        self.net = nn.Sequential(
            nn.Linear(6, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 3)
        )
        self.optimizer = torch.optim.Adam(self.net.parameters(), 1e-3, fused=True)
        self.before = np.zeros((5000, 6), np.float32)
        self.after = np.zeros((5000, 6), np.float32)
        self.action = np.zeros(5000, np.int64)
        self.reward = np.zeros(5000, np.float32)

    def save(self, step: int) -> None:
        state = {
            "step": step,
            "net": self.net.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "memory": [self.before, self.after, self.action, self.reward],
        }
        torch.save(state, self.folder / "newest.tmp")  # planted
        os.replace(self.folder / "newest.tmp", self.folder / "newest.pt")

    def learn(self, filled: int) -> None:
        rows = self.rng.integers(0, filled, 32)
        before, after = torch.from_numpy(self.before[rows]), torch.from_numpy(self.after[rows])
        action, reward = torch.from_numpy(self.action[rows]), torch.from_numpy(self.reward[rows])
        with torch.no_grad():
            goal = reward + 0.99 * self.net(after).amax(1)
        loss = (self.net(before).gather(1, action[:, None]).squeeze(1) - goal).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def train(self, steps: int) -> None:
        state, _ = self.env.reset(seed=4)
        for step in range(steps):
            with torch.no_grad():
                action = int(self.net(torch.from_numpy(state)).argmax())
            if self.rng.random() < 0.3:
                action = int(self.rng.integers(3))
            self.before[step] = state
            state, self.reward[step], terminated, truncated, _ = self.env.step(action)
            self.after[step], self.action[step] = state, action
            if terminated or truncated:
                state, _ = self.env.reset()
            if step > 100:
                self.learn(step)
            if step % self.save_every == 0:
                self.save(step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--save-every", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    torch.manual_seed(4)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as temporary:
        trainer = Trainer(Path(temporary), options.save_every)
        began = stopwatch.now()
        trainer.train(options.steps)
        print(f"loop {stopwatch.now() - began:.6f}")
