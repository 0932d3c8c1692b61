"""The loss of each step is read back, but the GPU takes nearly all of the time anyway."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn


class Training:
    def __init__(self, read_once):
        self.read_once = read_once
        self.env = gym.make("CartPole-v1")
        layers = [layer for _ in range(4) for layer in (nn.Linear(128, 128), nn.ReLU())]
        self.net = nn.Sequential(nn.Linear(4, 128), *layers, nn.Linear(128, 2)).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), 1e-3, fused=True)
        self.states = torch.zeros(256, 4).pin_memory()
        self.log = []

    def update(self):
        loss = self.net(self.states.cuda(non_blocking=True)).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        # All of the step is in the GPU's queue by now. It is idle only until the next launch.
        self.log.append(loss.detach() if self.read_once else loss.item())

    def run(self, steps):
        self.env.reset(seed=23)
        for step in range(steps):
            state, _, ended, cut, _ = self.env.step(step % 2)
            self.states[step % 256] = torch.from_numpy(np.asarray(state))
            if ended or cut:
                self.env.reset()
            self.update()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--read-once", action="store_true")
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    torch.manual_seed(23)
    torch.set_num_threads(1)
    training = Training(options.read_once)
    stopwatch.time_gpu(training.run, options.steps)
