"""A replay memory in a list of multiprocessing.Manager(), or in a list of the program."""

import argparse
import multiprocessing
import random

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--local", action="store_true")
parser.add_argument("--steps", type=int, default=1000)


def learn(network, optimizer, batch):
    seen, action, reward, after, ended = (torch.from_numpy(np.array(part)) for part in zip(*batch))
    with torch.no_grad():
        goal = reward.float() + 0.99 * network(after).amax(1) * (1 - ended.float())
    chosen = network(seen).gather(1, action[:, None])[:, 0]
    loss = (chosen - goal).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    options = parser.parse_args()
    random.seed(5)
    torch.manual_seed(5)
    torch.set_num_threads(1)
    manager = multiprocessing.Manager()
    memory = [] if options.local else manager.list()
    network = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(network.parameters(), 1e-3, fused=True)
    env = gym.make("CartPole-v1")
    seen, _ = env.reset(seed=5)
    began = stopwatch.now()
    for step in range(options.steps):
        with torch.no_grad():
            action = int(network(torch.from_numpy(seen)).argmax())
        action = action if random.random() > 0.1 else random.randrange(2)
        after, reward, ended, cut, _ = env.step(action)
        memory.append((seen, action, reward, after, ended))  # planted
        seen = env.reset()[0] if ended or cut else after
        if step >= 64:
            places = random.sample(range(step), 32)
            learn(network, optimizer, [memory[place] for place in places])  # planted
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()
