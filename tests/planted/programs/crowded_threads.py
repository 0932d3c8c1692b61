"""Soft Q-learning with small layers, whose operators may use several threads."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--steps", type=int, default=300)
    return parser.parse_args()


def build():
    net = nn.Sequential(nn.Linear(4, 300), nn.Tanh(), nn.Linear(300, 300), nn.Tanh())
    return nn.Sequential(net, nn.Linear(300, 2))


def train(steps):
    rng = np.random.default_rng(8)
    env = gym.make("CartPole-v1")
    net = build()
    optimizer = torch.optim.Adam(net.parameters(), 3e-4, fused=True)
    memory = np.zeros((steps, 10), np.float32)
    state, _ = env.reset(seed=8)
    for step in range(steps):
        with torch.no_grad():
            weights = net(torch.from_numpy(state)).softmax(-1).numpy()
        action = int(rng.random() < weights[1])
        after, reward, terminated, truncated, _ = env.step(action)
        memory[step] = *state, action, reward, *after
        state = env.reset()[0] if terminated or truncated else after
        if step < 64:
            continue
        batch = torch.from_numpy(memory[rng.integers(0, step, 128)])
        before, taken, rewards, following = batch.split([4, 1, 1, 4], 1)
        with torch.no_grad():
            goal = rewards + 0.99 * net(following).logsumexp(-1, keepdim=True)
        loss = (net(before).gather(1, taken.long()) - goal).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    options = parse()
    torch.manual_seed(8)
    torch.set_num_threads(options.threads)  # planted
    began = stopwatch.now()
    train(options.steps)
    print(f"loop {stopwatch.now() - began:.6f}")
