"""A small agent whose observations are lists: each step converts them into tensors anew."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

WINDOW = 64


class History(gym.ObservationWrapper):
    """The latest observations."""

    def __init__(self, env):
        super().__init__(env)
        self.latest = np.zeros((WINDOW, 4), np.float32)

    def observation(self, observation):
        self.latest = np.roll(self.latest, -1, 0)
        self.latest[-1] = observation
        return self.latest


def from_lists(window):
    return torch.tensor([[float(value) for value in row] for row in window])  # planted


def from_array(window):
    return torch.from_numpy(window)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arrays", action="store_true")
    parser.add_argument("--steps", type=int, default=4000)
    options = parser.parse_args()
    torch.manual_seed(15)
    torch.set_num_threads(1)
    convert = from_array if options.arrays else from_lists
    env = History(gym.make("CartPole-v1"))
    net = nn.Sequential(nn.Flatten(0), nn.Linear(WINDOW * 4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, foreach=True)
    window, _ = env.reset(seed=15)
    began = stopwatch.now()
    loss = torch.zeros(())
    for step in range(options.steps):
        scores = net(convert(window)).log_softmax(-1)
        action = int(torch.multinomial(scores.detach().exp(), 1))
        window, reward, terminated, truncated, _ = env.step(action)
        loss = loss - reward * scores[action]
        if terminated or truncated:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss = torch.zeros(())
            window, _ = env.reset()
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()
