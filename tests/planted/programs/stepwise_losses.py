"""Policy gradients that go back through each step's loss, or once through their sum."""

import argparse

import gymnasium as gym
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--summed", action="store_true")
parser.add_argument("--episodes", type=int, default=200)
options = parser.parse_args()
torch.manual_seed(7)
torch.set_num_threads(1)
policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(policy.parameters(), 1e-2, fused=True)
env = gym.make("CartPole-v1")


def returns(rewards):
    total, found = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.99 * total
        found.append(total)
    return torch.tensor(found[::-1])


def episode():
    seen, _ = env.reset()
    logs, rewards, over = [], [], False
    while not over and len(rewards) < 60:
        logits = policy(torch.from_numpy(seen))
        action = torch.multinomial(logits.softmax(0), 1)
        logs.append(logits.log_softmax(0)[action])
        seen, reward, ended, cut, _ = env.step(int(action))
        rewards.append(reward)
        over = ended or cut
    return logs, rewards


def learn(logs, rewards):
    gains = returns(rewards)
    gains = (gains - gains.mean()) / (gains.std() + 1e-6)
    optimizer.zero_grad()
    if options.summed:
        (-torch.cat(logs) * gains).sum().backward()
    else:
        for log, gain in zip(logs, gains, strict=True):
            loss = (-log * gain).sum()
            loss.backward()  # planted
    optimizer.step()


env.reset(seed=7)
began = stopwatch.now()
for _ in range(options.episodes):
    learn(*episode())
print(f"loop {stopwatch.now() - began:.6f}")
