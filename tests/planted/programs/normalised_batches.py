"""Offline Q-learning; states are normalised by the mean and deviation of the data set."""

import argparse

import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--kept", action="store_true")
parser.add_argument("--updates", type=int, default=400)
options = parser.parse_args()
torch.manual_seed(3)
torch.set_num_threads(1)


class Log:
    """What another policy did."""

    def __init__(self, rows=40_000, width=12):
        self.rng = np.random.default_rng(3)
        self.states = self.rng.normal(1, 4, (rows, width)).astype(np.float32)
        self.actions = self.rng.integers(0, 4, rows)
        self.rewards = (self.states[:, 0] * (self.actions == 1)).astype(np.float32)
        self.middle = self.states.mean(axis=0)
        self.spread = self.states.std(axis=0)

    def normalised(self, states):
        if options.kept:
            return (states - self.middle) / self.spread
        middle = self.states.mean(axis=0)  # planted
        spread = self.states.std(axis=0)  # planted
        return (states - middle) / spread

    def batch(self, size):
        rows = self.rng.integers(0, len(self.rewards) - 1, size)
        before, after = self.normalised(self.states[rows]), self.normalised(self.states[rows + 1])
        arrays = before, self.actions[rows], self.rewards[rows], after
        return [torch.from_numpy(each) for each in arrays]


def network():
    return nn.Sequential(
        nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)
    )


class Learner:
    def __init__(self):
        self.net, self.old = network(), network()
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


log, learner = Log(), Learner()
began = stopwatch.now()
for _ in range(options.updates):
    learner.learn(*log.batch(64))
print(f"loop {stopwatch.now() - began:.6f}")
