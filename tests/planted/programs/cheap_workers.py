"""Four cheap environments, each in a worker process or all in this one."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn


def make(kind):
    return gym.make_vec("CartPole-v1", num_envs=4, vectorization_mode=kind)  # planted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vector", choices=("async", "sync"), default="async")
    parser.add_argument("--steps", type=int, default=8000)
    options = parser.parse_args()
    torch.manual_seed(17)
    torch.set_num_threads(1)
    envs = make(options.vector)
    net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, foreach=True)
    observation, _ = envs.reset(seed=17)
    began = stopwatch.now()
    states, taken, rewards = [], [], []
    for step in range(options.steps):
        with torch.no_grad():
            chances = net(torch.from_numpy(observation)).softmax(-1).numpy()
        action = (np.random.rand(4) < chances[:, 1]).astype(np.int64)
        states.append(observation.copy())
        observation, reward, _, _, _ = envs.step(action)  # planted
        taken.append(action)
        rewards.append(reward)
        if len(states) == 64:
            scores = net(torch.from_numpy(np.concatenate(states))).log_softmax(-1)
            chosen = scores.gather(1, torch.from_numpy(np.concatenate(taken))[:, None])
            weight = torch.from_numpy(np.concatenate(rewards)).float()
            loss = -(chosen.squeeze(1) * weight).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            states, taken, rewards = [], [], []
    print(f"loop {stopwatch.now() - began:.6f}")
    envs.close()


if __name__ == "__main__":
    main()
