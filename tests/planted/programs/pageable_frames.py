"""Stacks of frames go to the GPU from ordinary memory, so that each copy blocks the loop."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

FRAMES, SIZE, COPIES = 256, 84 * 84, 3


class Frames:
    """Frames of several cameras, a tensor for each; two of each take turns."""

    def __init__(self, pinned):
        self.pinned = pinned
        shape = (FRAMES, SIZE)
        self.buffers = [[torch.zeros(shape) for _ in range(COPIES)] for _ in range(2)]
        if pinned:
            self.buffers = [[each.pin_memory() for each in turn] for turn in self.buffers]

    def to_gpu(self, step):
        buffers = self.buffers[step % 2]
        for camera, buffer in enumerate(buffers):
            buffer[step % FRAMES].fill_(camera)
        return [buffer.to("cuda", non_blocking=self.pinned) for buffer in buffers]  # planted


class Training:
    def __init__(self, pinned):
        self.env = gym.make("CartPole-v1")
        self.frames = Frames(pinned)
        self.net = nn.Sequential(nn.Linear(SIZE, 64), nn.ReLU(), nn.Linear(64, 2)).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-3, fused=True)

    def update(self, cameras):
        loss = self.net(torch.stack(cameras)).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def run(self, steps):
        self.env.reset(seed=24)
        for step in range(steps):
            _, _, ended, cut, _ = self.env.step(int(np.sin(step) > 0))
            if ended or cut:
                self.env.reset()
            self.update(self.frames.to_gpu(step))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pinned", action="store_true")
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    torch.manual_seed(24)
    torch.set_num_threads(1)
    training = Training(options.pinned)
    stopwatch.time_gpu(training.run, options.steps)
