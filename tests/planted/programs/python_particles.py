"""A swarm whose physics are a loop of Python over bodies, or arrays, with a small learner."""

import argparse

import numpy as np
import stopwatch
import torch
from gymnasium import Env, spaces
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--arrays", action="store_true")
parser.add_argument("--steps", type=int, default=400)
options = parser.parse_args()
torch.manual_seed(16)
torch.set_num_threads(1)


class Swarm(Env):
    def __init__(self, bodies=40):
        self.bodies = bodies
        self.observation_space = spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.normal(size=(self.bodies, 2))
        self.speed = np.zeros((self.bodies, 2))
        return self.seen(), {}

    def seen(self):
        return np.concatenate([self.place.mean(0), self.speed.mean(0)]).astype(np.float32)

    def forces(self):
        force = [[0.0, 0.0] for _ in range(self.bodies)]
        places = self.place.tolist()
        for i, (x, y) in enumerate(places):
            for j, (u, v) in enumerate(places):
                if i != j:
                    dx, dy = u - x, v - y  # planted
                    pull = 1 / (dx * dx + dy * dy + 0.1)  # planted
                    force[i][0] += dx * pull  # planted
                    force[i][1] += dy * pull  # planted
        return np.array(force)

    def forces_of_arrays(self):
        apart = self.place[None] - self.place[:, None]
        return (apart / (np.square(apart).sum(-1, keepdims=True) + 0.1)).sum(1)

    def step(self, action):
        force = self.forces_of_arrays() if options.arrays else self.forces()
        self.speed = 0.9 * self.speed + 0.01 * (force + action)
        self.place = self.place + self.speed
        seen = self.seen()
        return seen, -float(np.abs(seen[:2]).sum()), False, False, {}


class Learner:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2), nn.Tanh())
        self.model = nn.Linear(6, 4)
        self.optimizer = torch.optim.Adam(
            [*self.policy.parameters(), *self.model.parameters()], fused=True
        )

    @torch.no_grad()
    def act(self, state):
        return self.policy(torch.from_numpy(state)).numpy()

    def learn(self, states, actions, following):
        for _ in range(2):
            loss = (self.model(torch.cat([states, actions], 1)) - following).square().mean()
            reach = self.model(torch.cat([states, self.policy(states)], 1))[:, :2].abs().mean()
            self.optimizer.zero_grad()
            (loss + reach).backward()
            self.optimizer.step()


env, learner = Swarm(), Learner()
state, _ = env.reset(seed=16)
rows = []
began = stopwatch.now()
for _ in range(options.steps):
    action = learner.act(state)
    following, *_ = env.step(action)
    rows.append((state, action, following))
    state = following
    learner.learn(*(torch.from_numpy(np.stack(part)) for part in zip(*rows[-64:])))
print(f"loop {stopwatch.now() - began:.6f}")
