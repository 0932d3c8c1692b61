"""Stores networks and memory after each episode, or after some of them."""

import argparse
import pickle
import tempfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--keep-every", type=int, default=1)
parser.add_argument("--episodes", type=int, default=40)
options = parser.parse_args()
torch.manual_seed(6)
torch.set_num_threads(1)


class Experience:
    def __init__(self, size=30000):
        self.states = np.zeros((size, 3), np.float32)
        self.following = np.zeros((size, 3), np.float32)
        self.pictures = np.zeros((size, 64), np.float32)
        self.actions = np.zeros((size, 1), np.float32)
        self.rewards = np.zeros((size, 1), np.float32)
        self.count = 0

    def add(self, state, action, reward, following):
        row = self.count % len(self.states)
        self.states[row], self.actions[row] = state, action
        self.rewards[row], self.following[row] = reward, following
        self.count += 1

    def batch(self, rng, size):
        rows = rng.integers(0, self.count, size)
        parts = (self.states, self.actions, self.rewards, self.following)
        return [torch.from_numpy(part[rows]) for part in parts]


class Keeper:
    def __init__(self, folder, every):
        self.path, self.every = Path(folder) / "run.pkl", every

    def after_episode(self, number, experience, network, optimizer):
        if number % self.every:
            return
        state = {
            "network": network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "experience": vars(experience),
        }
        with open(self.path, "wb") as file:
            pickle.dump(state, file)  # planted


def run(folder):
    env = gym.make("Pendulum-v1", max_episode_steps=40)
    rng = np.random.default_rng(6)
    network = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 1))
    optimizer = torch.optim.AdamW(network.parameters(), fused=True)
    experience, keeper = Experience(), Keeper(folder, options.keep_every)
    for episode in range(1, options.episodes + 1):
        state, _ = env.reset(seed=episode)
        over = False
        while not over:
            action = rng.uniform(-2, 2, 1).astype(np.float32)
            following, reward, _terminated, over, _ = env.step(action)
            experience.add(state, action, reward, following)
            state = following
            states, actions, rewards, after = experience.batch(rng, 32)
            with torch.no_grad():
                goal = rewards + 0.95 * network(torch.cat([after, actions], 1))
            loss = nn.functional.smooth_l1_loss(network(torch.cat([states, actions], 1)), goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        keeper.after_episode(episode, experience, network, optimizer)


with tempfile.TemporaryDirectory(dir=".") as folder:
    began = stopwatch.now()
    run(folder)
    print(f"loop {stopwatch.now() - began:.6f}")
