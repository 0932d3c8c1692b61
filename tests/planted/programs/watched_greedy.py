"""Distributional Q-learning that acts and bootstraps with or without a record for gradients."""

import argparse
import contextlib

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--inference-mode", action="store_true")
parser.add_argument("--steps", type=int, default=9000)
options = parser.parse_args()
torch.manual_seed(17)
torch.set_num_threads(1)
quietly = torch.inference_mode if options.inference_mode else contextlib.nullcontext


class Quantiles(nn.Module):
    def __init__(self, actions=3, quantiles=16):
        super().__init__()
        self.shape = (actions, quantiles)
        self.layers = nn.ModuleList([nn.Linear(6, 64), *(nn.Linear(64, 64) for _ in range(5))])
        self.last = nn.Linear(64, actions * quantiles)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.last(x).unflatten(-1, self.shape)


class Player:
    def __init__(self, network):
        self.network = network

    def act(self, state):
        with quietly():
            values = self.network(torch.from_numpy(state))  # planted
            return int(values.mean(-1).argmax().detach())


env = gym.make("Acrobot-v1")
network = Quantiles()
optimizer = torch.optim.Adam(network.parameters(), fused=True)
player = Player(network)
states, rewards, actions = [], [], []
state, _ = env.reset(seed=17)
began = stopwatch.now()
for step in range(options.steps):
    action = player.act(state)  # planted
    states.append(state)
    actions.append(action)
    state, reward, terminated, truncated, _ = env.step(action)
    rewards.append(reward)
    if terminated or truncated:
        state, _ = env.reset()
    if step % 32 == 31:
        batch = torch.from_numpy(np.stack(states[-32:]))
        chosen = network(batch)[torch.arange(32), torch.tensor(actions[-32:])]
        goal = torch.tensor(np.cumsum(rewards[-32:][::-1])[::-1].copy(), dtype=torch.float32)
        loss = nn.functional.huber_loss(chosen, goal[:, None].expand_as(chosen))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loop {stopwatch.now() - began:.6f}")
