"""Rewards and values are read one by one out of tensors, for the statistics of each step."""

import argparse

import gymnasium as gym
import stopwatch
import torch
from torch import nn

NUM_ENVS = 64


class Statistics:
    """Running sums of what the environments gave."""

    def __init__(self):
        self.reward = [0.0] * NUM_ENVS
        self.value = [0.0] * NUM_ENVS
        self.longest = 0.0

    def add_each(self, rewards, values):
        for env in range(NUM_ENVS):
            self.reward[env] += rewards[env].item()  # planted
            self.value[env] += values[env].item()  # planted
        self.longest = max(self.longest, *self.reward)

    def add_all(self, rewards, values):
        for env, (reward, value) in enumerate(zip(rewards.tolist(), values.tolist())):
            self.reward[env] += reward
            self.value[env] += value
        self.longest = max(self.longest, *self.reward)


class Program:
    def __init__(self, at_once):
        self.envs = gym.make_vec("CartPole-v1", NUM_ENVS, vectorization_mode="vector_entry_point")
        self.net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 3))
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-3, foreach=True)
        self.statistics = Statistics()
        self.note = self.statistics.add_all if at_once else self.statistics.add_each

    def run(self, steps):
        observation, _ = self.envs.reset(seed=16)
        for step in range(steps):
            state = torch.from_numpy(observation)
            output = self.net(state)
            scores, values = output[:, :2].log_softmax(-1), output[:, 2]
            actions = (torch.rand(NUM_ENVS) < scores.detach()[:, 1].exp()).long()
            observation, reward, _, _, _ = self.envs.step(actions.numpy())
            rewards = torch.from_numpy(reward).float()
            self.note(rewards, values.detach())
            gain = rewards - values
            chosen = scores.gather(1, actions[:, None]).squeeze(1)
            loss = gain.square().mean() - (chosen * gain.detach()).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--steps", type=int, default=2500)
    options = parser.parse_args()
    torch.manual_seed(16)
    torch.set_num_threads(1)
    program = Program(options.at_once)
    began = stopwatch.now()
    program.run(options.steps)
    print(f"loop {stopwatch.now() - began:.6f}")
