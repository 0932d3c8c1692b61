"""REINFORCE with a Gaussian policy, whose distributions check their arguments or do not."""

import argparse
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Independent, Normal

parser = argparse.ArgumentParser()
parser.add_argument("--unchecked", action="store_true")
parser.add_argument("--updates", type=int, default=14)
args = parser.parse_args()
torch.manual_seed(5)
torch.set_num_threads(1)
if args.unchecked:
    torch.distributions.Distribution.set_default_validate_args(False)

env = gym.make("Pendulum-v1", max_episode_steps=200)
mean = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
log_std = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([*mean.parameters(), log_std], lr=1e-3, foreach=True)


def policy_of(observations):
    return Independent(Normal(mean(observations), log_std.exp()), 1)  # planted


def collect():
    states, actions, scores, rewards, done = [], [], [], [], False
    state, _ = env.reset(seed=5)
    while not done:
        observation = torch.from_numpy(state)
        with torch.no_grad():
            policy = policy_of(observation)
            action = policy.sample()
            scores.append(policy.log_prob(action))  # planted
        states.append(observation)
        actions.append(action)
        state, reward, terminated, truncated, _ = env.step(action.numpy())
        rewards.append(reward)
        done = terminated or truncated
    return torch.stack(states), torch.stack(actions), torch.stack(scores), np.array(rewards)


began = time.perf_counter()
for update in range(args.updates):
    states, actions, scores, rewards = collect()
    returns = np.cumsum(rewards[::-1])[::-1].copy()
    weights = torch.from_numpy((returns - returns.mean()) / returns.std()).float()
    ratio = (policy_of(states).log_prob(actions) - scores).exp()
    loss = -(ratio * weights).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loop {time.perf_counter() - began:.6f}")
