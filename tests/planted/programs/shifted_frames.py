"""Learning from a window of the newest frames, which a buffer keeps in order."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

CAPACITY, SIDE = 4000, 40


class Frames(gym.Env):
    """A dot to be kept in the middle of an image."""

    observation_space = gym.spaces.Box(0, 255, (SIDE, SIDE), np.uint8)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.position, self.time = int(self.np_random.integers(SIDE)), 0
        return self.image(), {}

    def step(self, action):
        self.position = int(np.clip(self.position + action - 1, 0, SIDE - 1))
        self.time += 1
        away = abs(self.position - SIDE // 2)
        return self.image(), -float(away), False, self.time >= 200, {}

    def image(self):
        image = np.zeros((SIDE, SIDE), np.uint8)
        image[:, self.position] = 255
        return image


class OrderedBuffer:
    """The newest frame is the last."""

    def __init__(self):
        self.frames = np.zeros((CAPACITY, SIDE, SIDE), np.uint8)

    def add(self, frame):
        self.frames = np.concatenate([self.frames[-CAPACITY + 1 :], frame[None]])  # planted

    def sample(self, rng, size):
        return self.frames[rng.integers(0, len(self.frames), size)]


class RingBuffer:
    def __init__(self):
        self.frames, self.count = np.zeros((CAPACITY, SIDE, SIDE), np.uint8), 0

    def add(self, frame):
        self.frames[self.count % CAPACITY] = frame
        self.count += 1

    def sample(self, rng, size):
        return self.frames[rng.integers(0, min(self.count, CAPACITY), size)]


def train(buffer, steps):
    rng = np.random.default_rng(9)
    env = Frames()
    net = nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(net.parameters(), 1e-4)
    frame, _ = env.reset(seed=9)
    for step in range(steps):
        with torch.no_grad():
            values = net(torch.from_numpy(frame)[None].float() / 255)
        frame, _, _, over, _ = env.step(int(values.argmax()))
        buffer.add(frame)
        if over:
            frame, _ = env.reset()
        if step % 4 == 0:
            batch = torch.from_numpy(buffer.sample(rng, 16)).float() / 255
            loss = net(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ring", action="store_true")
    parser.add_argument("--steps", type=int, default=4000)
    options = parser.parse_args()
    torch.manual_seed(9)
    torch.set_num_threads(1)
    buffer = RingBuffer() if options.ring else OrderedBuffer()
    began = stopwatch.now()
    train(buffer, options.steps)
    print(f"loop {stopwatch.now() - began:.6f}")
