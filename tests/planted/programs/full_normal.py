"""PPO's actor for a drone, whose actions do not depend on each other, by a matrix; or without."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn
from torch.distributions import Independent, MultivariateNormal, Normal

parser = argparse.ArgumentParser()
parser.add_argument("--independent", action="store_true")
parser.add_argument("--rollouts", type=int, default=14)
args = parser.parse_args()


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 1))
        self.spread = nn.Parameter(torch.full((1,), 0.4))

    def forward(self, seen):
        mean = self.mean(seen)
        spread = self.spread.expand_as(mean)
        if args.independent:
            return Independent(Normal(mean, spread, validate_args=False), 1)
        covariance = torch.diag_embed(spread.square())
        return MultivariateNormal(mean, covariance, validate_args=False)  # planted


torch.manual_seed(5)
actor = Actor()
critic = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 3e-4, fused=True)
env = gym.make("Pendulum-v1")
seen, _ = env.reset(seed=5)
began = stopwatch.now()
for _ in range(args.rollouts):
    rows = []
    for _ in range(200):
        with torch.no_grad():
            chosen = actor(torch.from_numpy(seen))
            action = chosen.sample()
            log = chosen.log_prob(action)
        following, reward, ended, cut, _ = env.step(action.numpy())
        rows.append((seen, action, log, float(reward)))
        seen = env.reset()[0] if ended or cut else following
    states = torch.from_numpy(np.stack([row[0] for row in rows]))
    actions, logs = (torch.stack([row[place] for row in rows]) for place in (1, 2))
    gains = torch.tensor([row[3] for row in rows]) / 10
    for _ in range(10):
        ratio = (actor(states).log_prob(actions) - logs).exp()
        value = critic(states).squeeze(1)
        advantage = (gains - value).detach()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = loss + (gains - value).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
