"""Eight environments in worker processes; the last one takes longer than all others."""

import argparse
import functools
import time

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn


class Reaching(gym.Env):
    """Asks a device for its state, which takes it `delay` seconds."""

    observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, delay):
        self.delay = delay

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.time = np.zeros(3, np.float32), 0
        return self.state, {}

    def step(self, action):
        time.sleep(self.delay)  # planted
        self.state[action] += 0.01
        self.time += 1
        return self.state, float(self.state[0]), False, self.time >= 100, {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slowest", type=float, default=0.010)
    parser.add_argument("--steps", type=int, default=250)
    options = parser.parse_args()
    torch.manual_seed(20)
    torch.set_num_threads(1)
    delays = [0.002] * 5 + [options.slowest]
    envs = gym.vector.AsyncVectorEnv([functools.partial(Reaching, delay) for delay in delays])
    net = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 3))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, foreach=True)
    state, _ = envs.reset(seed=20)
    began = stopwatch.now()
    for _ in range(options.steps):
        scores = net(torch.from_numpy(state)).log_softmax(-1)
        action = torch.multinomial(scores.detach().exp(), 1)
        state, reward, _, _, _ = envs.step(action.flatten().numpy())
        loss = -(scores.gather(1, action).squeeze(1) * torch.from_numpy(reward).float()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loop {stopwatch.now() - began:.6f}")
    envs.close()


if __name__ == "__main__":
    main()
