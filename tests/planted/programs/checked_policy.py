"""REINFORCE with a policy of two parts, whose distributions check their arguments or do not."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn
from torch.distributions import Categorical, Independent, Normal

parser = argparse.ArgumentParser()
parser.add_argument("--unchecked", action="store_true")
parser.add_argument("--updates", type=int, default=32)
args = parser.parse_args()
torch.manual_seed(5)
torch.set_num_threads(1)
if args.unchecked:
    torch.distributions.Distribution.set_default_validate_args(False)

env = gym.make("Pendulum-v1", max_episode_steps=200)
body = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 4))
log_std = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([*body.parameters(), log_std], lr=1e-3, foreach=True)


class Torque:
    """Which way to turn, and how strongly."""

    def __init__(self, observations):
        output = body(observations)
        self.way = Categorical(logits=output[..., :3])  # planted
        self.strength = Independent(Normal(output[..., 3:], log_std.exp()), 1)  # planted

    def sample(self):
        return self.way.sample(), self.strength.sample()

    def log_prob(self, way, strength):
        return self.way.log_prob(way) + self.strength.log_prob(strength)  # planted


def collect():
    states, ways, strengths, scores, rewards, done = [], [], [], [], [], False
    state, _ = env.reset(seed=5)
    while not done:
        observation = torch.from_numpy(state)
        with torch.no_grad():
            policy = Torque(observation)
            way, strength = policy.sample()
            scores.append(policy.log_prob(way, strength))
        states.append(observation)
        ways.append(way)
        strengths.append(strength)
        action = ((way - 1) * strength.abs()).numpy()
        state, reward, terminated, truncated, _ = env.step(action)
        rewards.append(reward)
        done = terminated or truncated
    parts = (states, ways, strengths, scores)
    return *(torch.stack(part) for part in parts), np.array(rewards)


began = stopwatch.now()
for update in range(args.updates):
    states, ways, strengths, scores, rewards = collect()
    returns = np.cumsum(rewards[::-1])[::-1].copy()
    weights = torch.from_numpy((returns - returns.mean()) / returns.std()).float()
    ratio = (Torque(states).log_prob(ways, strengths) - scores).exp()
    loss = -(ratio * weights).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
