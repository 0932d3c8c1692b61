"""Writes each number of a step into the memory through a tensor of its own, or as it is."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--plain", action="store_true")
parser.add_argument("--steps", type=int, default=12000)
options = parser.parse_args()
torch.manual_seed(12)
torch.set_num_threads(1)


class Rollout:
    def __init__(self, size):
        self.size = size
        self.clear()

    def clear(self):
        self.count = 0
        self.states = torch.zeros(self.size, 4)
        self.actions = torch.zeros(self.size, dtype=torch.int64)
        self.rewards = torch.zeros(self.size)
        self.ended = torch.zeros(self.size)
        self.ages = torch.zeros(self.size)
        self.arrays = [
            part.numpy()
            for part in (self.states, self.actions, self.rewards, self.ended, self.ages)
        ]

    def add(self, state, action, reward, ended, age):
        row = self.count
        if options.plain:
            for array, value in zip(self.arrays, (state, action, reward, ended, age)):
                array[row] = value
        else:
            self.states[row] = torch.tensor(state)  # planted
            self.actions[row] = torch.tensor(action)  # planted
            self.rewards[row] = torch.tensor(reward)  # planted
            self.ended[row] = torch.tensor(ended)  # planted
            self.ages[row] = torch.tensor(age)  # planted
        self.count += 1
        return self.count == self.size


class Learner:
    def __init__(self):
        self.policy = nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.policy.parameters(), 0.01)

    def act(self, state):
        weight, bias = self.weights
        return int(np.argmax(weight @ state + bias + np.random.gumbel(size=2)))

    def refresh(self):
        self.weights = [part.detach().numpy() for part in self.policy.parameters()]

    def learn(self, rollout):
        returns = rollout.rewards.flip(0).cumsum(0).flip(0)
        scores = self.policy(rollout.states).log_softmax(-1).gather(1, rollout.actions[:, None])
        loss = -(scores.squeeze(1) * (returns - returns.mean())).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.refresh()


env, rollout, learner = gym.make("CartPole-v1"), Rollout(200), Learner()
learner.refresh()
state, _ = env.reset(seed=12)
age = 0
began = stopwatch.now()
for _ in range(options.steps):
    action = learner.act(state)
    following, reward, terminated, truncated, _ = env.step(action)
    age += 1
    if rollout.add(state, action, reward, float(terminated), float(age)):
        learner.learn(rollout)
        rollout.clear()
    state = following
    if terminated or truncated:
        state, age = env.reset()[0], 0
print(f"loop {stopwatch.now() - began:.6f}")
