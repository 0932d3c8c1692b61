"""REINFORCE in a small warehouse whose rewards stand in a file, read in each step; or once."""

import argparse
import json
import pathlib
import tempfile

import numpy as np
import stopwatch
import torch
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--once", action="store_true")
parser.add_argument("--episodes", type=int, default=400)
options = parser.parse_args()
LEVELS = [{"level": n, "goal": [n % 9, n * 7 % 9], "note": f"level {n}"} for n in range(40)]
SETTINGS = {"weights": {"goal": 10.0, "step": -0.1, "wall": -0.5}, "levels": LEVELS}


class Warehouse:
    def __init__(self, path):
        self.path = path
        self.random = np.random.RandomState(0)
        self.walls = self.random.rand(9, 9) < 0.15
        self.kept = self.settings()

    def settings(self):
        with open(self.path) as file:  # planted
            return json.load(file)  # planted

    def reset(self):
        self.place = self.random.randint(0, 9, 2)
        self.goal = self.random.randint(0, 9, 2)
        self.clock = 0
        return self.features()

    def features(self):
        parts = [self.place, self.goal, self.goal - self.place]
        return np.concatenate(parts).astype(np.float32) / 9

    def step(self, action):
        to = np.clip(self.place + ((0, 1), (1, 0), (0, -1), (-1, 0))[action], 0, 8)
        wall = bool(self.walls[tuple(to)])
        self.place = self.place if wall else to
        self.clock += 1
        there = bool((self.place == self.goal).all())
        weights = (self.kept if options.once else self.settings())["weights"]
        reward = weights["step"] + weights["wall"] * wall + weights["goal"] * there
        return self.features(), reward, there or self.clock >= 40


def main(path):
    torch.manual_seed(0)
    policy = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.Adam(policy.parameters(), 1e-3, fused=True)
    env = Warehouse(path)
    began = stopwatch.now()
    for _ in range(options.episodes):
        seen, actions, rewards = [], [], []
        observation, done = env.reset(), False
        while not done:
            with torch.inference_mode():
                chance = F.softmax(policy(torch.from_numpy(observation)), -1)
                action = int(torch.multinomial(chance, 1))
            seen.append(observation)
            actions.append(action)
            observation, reward, done = env.step(action)
            rewards.append(reward)
        gain = torch.from_numpy(np.cumsum(rewards[::-1])[::-1].astype(np.float32))
        logits = policy(torch.from_numpy(np.stack(seen)))
        loss = (F.cross_entropy(logits, torch.tensor(actions), reduction="none") * gain).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "settings.json"
        path.write_text(json.dumps(SETTINGS, indent=2))
        main(path)
