"""A vector of environments; the policy's choice is a distribution for each, or one for all."""

import argparse

import gymnasium as gym
import stopwatch
import torch
from torch import nn
from torch.distributions import Categorical

parser = argparse.ArgumentParser()
parser.add_argument("--at-once", action="store_true")
parser.add_argument("--rounds", type=int, default=1000)
options = parser.parse_args()
torch.manual_seed(10)
torch.set_num_threads(1)
envs = gym.make_vec("CartPole-v1", 16, vectorization_mode="sync")
policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(policy.parameters(), 1e-3, fused=True)


def choose(logits):
    if options.at_once:
        return Categorical(logits=logits, validate_args=False).sample()
    choices = []
    for row in logits:
        choices.append(Categorical(logits=row, validate_args=False).sample())  # planted
    return torch.stack(choices)


def learn(states, actions, rewards):
    logs = Categorical(logits=policy(states), validate_args=False).log_prob(actions)
    loss = -(logs * (rewards - rewards.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


seen, _ = envs.reset(seed=10)
began = stopwatch.now()
for _ in range(options.rounds):
    with torch.no_grad():
        actions = choose(policy(torch.from_numpy(seen)))
    after, reward, *_ = envs.step(actions.numpy())
    learn(torch.from_numpy(seen), actions, torch.from_numpy(reward).float())
    seen = after
print(f"loop {stopwatch.now() - began:.6f}")
