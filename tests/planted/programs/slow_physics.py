"""Chains of springs: the environment integrates them mass by mass or all at once."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

MASSES = 60


class Springs(gym.Env):
    observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, at_once):
        self.integrate = self.all_masses if at_once else self.each_mass

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.normal(0, 0.1, MASSES)
        self.speed, self.time = np.zeros(MASSES), 0
        return self.seen(), {}

    def step(self, action):
        for _ in range(10):
            self.integrate(0.01, float(action - 1))
        self.time += 1
        return self.seen(), -abs(float(self.place[-1])), False, self.time >= 200, {}

    def each_mass(self, dt, force):
        pull = [0.0] * MASSES
        for mass in range(MASSES):
            left = self.place[mass - 1] if mass > 0 else 0.0  # planted
            right = self.place[mass + 1] if mass < MASSES - 1 else 0.0  # planted
            pull[mass] = left + right - 2 * self.place[mass]  # planted
        pull[0] += force
        for mass in range(MASSES):
            self.speed[mass] += dt * (pull[mass] - 0.1 * self.speed[mass])  # planted
            self.place[mass] += dt * self.speed[mass]  # planted

    def all_masses(self, dt, force):
        around = np.pad(self.place, 1)
        pull = around[:-2] + around[2:] - 2 * self.place
        pull[0] += force
        self.speed += dt * (pull - 0.1 * self.speed)
        self.place += dt * self.speed

    def seen(self):
        picked = self.place[0], self.place[-1], self.speed[0], self.speed[-1]
        return np.array(picked, np.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--steps", type=int, default=6000)
    options = parser.parse_args()
    torch.manual_seed(18)
    torch.set_num_threads(1)
    env = Springs(options.at_once)
    net = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, foreach=True)
    state, _ = env.reset(seed=18)
    scores, rewards = [], []
    began = stopwatch.now()
    for _ in range(options.steps):
        score = net(torch.from_numpy(state)).log_softmax(-1)
        action = int(torch.multinomial(score.detach().exp(), 1))
        state, reward, _, over, _ = env.step(action)
        scores.append(score[action])
        rewards.append(reward)
        if over:
            returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
            loss = -(torch.stack(scores) * (returns - returns.mean())).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scores, rewards = [], []
            state, _ = env.reset()
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()
