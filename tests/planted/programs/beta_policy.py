"""A bounded policy of Beta distributions in a class of its own, which checks what it is given."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn
from torch.distributions import Beta, Independent, kl_divergence

parser = argparse.ArgumentParser()
parser.add_argument("--trusting", action="store_true")
parser.add_argument("--episodes", type=int, default=12)
options = parser.parse_args()
torch.manual_seed(10)
torch.set_num_threads(1)
checks = {"validate_args": False} if options.trusting else {}


class BetaPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2), nn.Softplus())

    def forward(self, states):
        shape = self.net(states) + 1
        return Independent(Beta(shape[..., :1], shape[..., 1:], **checks), 1, **checks)  # planted


class Actor:
    def __init__(self, policy):
        self.policy = policy

    @torch.no_grad()
    def __call__(self, state):
        choice = self.policy(torch.from_numpy(state))
        action = choice.sample()
        return action, choice.log_prob(action)  # planted


def episode(env, actor, seed):
    state, _ = env.reset(seed=seed)
    rows = []
    for _ in range(200):
        action, score = actor(state)
        following, reward, terminated, truncated, _ = env.step(action.numpy() * 2 - 1)
        rows.append((torch.from_numpy(state), action, score, reward))
        state = following
        if terminated or truncated:
            break
    return rows


def learn(policy, optimizer, rows):
    states, actions, scores, rewards = zip(*rows)
    returns = torch.from_numpy(np.cumsum(np.float32(rewards)[::-1])[::-1].copy())
    states, actions, scores = map(torch.stack, (states, actions, scores))
    with torch.no_grad():
        old = policy(states)
    for _ in range(3):
        new = policy(states)
        ratio = (new.log_prob(actions) - scores).exp()
        loss = -(ratio * returns).mean() + kl_divergence(old, new).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


policy = BetaPolicy()
optimizer = torch.optim.SGD(policy.parameters(), 1e-3)
env = gym.make("MountainCarContinuous-v0", max_episode_steps=200)
began = stopwatch.now()
for number in range(options.episodes):
    learn(policy, optimizer, episode(env, Actor(policy), number))
print(f"loop {stopwatch.now() - began:.6f}")
