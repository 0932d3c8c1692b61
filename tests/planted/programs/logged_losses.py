"""The loss of each minibatch is read back for the log, before the next batch is made on the CPU."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

STEPS, MINIBATCHES, BATCH = 16, 32, 1024


class Minibatches:
    """Rows of a rollout in pinned memory, of which two buffers take turns."""

    def __init__(self):
        self.random = np.random.default_rng(22)
        self.seen = np.zeros((8192, 64), np.float32)
        self.buffers = [torch.zeros(BATCH, 64).pin_memory() for _ in range(2)]

    def next(self, turn):
        rows = self.seen[np.sort(self.random.permutation(8192)[:BATCH])]
        mean, deviation = rows.mean(0), rows.std(0) + 1e-6
        buffer = self.buffers[turn % 2]
        np.copyto(buffer.numpy(), (rows - mean) / deviation)
        return buffer.cuda(non_blocking=True)


class Training:
    def __init__(self, read_once):
        self.read_once = read_once
        self.env = gym.make("CartPole-v1")
        self.net = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 3)).cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters(), 3e-4, fused=True)
        self.minibatches = Minibatches()
        self.log = []

    def rollout(self, state):
        for _ in range(STEPS):
            state, _, ended, cut, _ = self.env.step(self.env.action_space.sample())
            if ended or cut:
                state, _ = self.env.reset()
        return state

    def update(self):
        losses = []
        for turn in range(MINIBATCHES):
            batch = self.minibatches.next(turn)
            loss = self.net(batch).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.read_once:
                losses.append(loss.detach())
            else:
                losses.append(loss.item())  # planted
        if self.read_once:
            losses = torch.stack(losses).tolist()
        self.log.append(sum(losses) / MINIBATCHES)

    def run(self, rounds):
        state, _ = self.env.reset(seed=22)
        for _ in range(rounds):
            state = self.rollout(state)
            self.update()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--read-once", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    torch.manual_seed(22)
    torch.set_num_threads(1)
    training = Training(options.read_once)
    stopwatch.time_gpu(training.run, options.rounds)
