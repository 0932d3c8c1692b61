"""Small twin critics on the GPU: an update is a hundred brief kernels, launched one by one."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

BATCH = 64


def critic():
    layers = [nn.Linear(4, 64), nn.LayerNorm(64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU()]
    return nn.Sequential(*layers, nn.Linear(64, 2))


class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = critic(), critic()

    def forward(self, states):
        return torch.minimum(self.one(states), self.other(states))


class Training:
    def __init__(self, graph):
        self.random = np.random.default_rng(21)
        self.env = gym.make("CartPole-v1")
        self.critics, self.target = Critics().cuda(), Critics().cuda()
        self.optimizer = torch.optim.Adam(self.critics.parameters(), 1e-3, capturable=graph)
        self.memory = np.zeros((4096, 10), np.float32)
        self.batch = torch.zeros(BATCH, 10, device="cuda")
        self.graph = self.captured() if graph else None

    def captured(self):
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(3):
                self.update()
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.update()
        return graph

    def update(self):
        before, after, rest = self.batch.split([4, 4, 2], 1)
        with torch.no_grad():
            best = self.target(after).max(1).values  # planted
            goal = rest[:, 0] + 0.99 * (1 - rest[:, 1]) * best  # planted
        loss = nn.functional.smooth_l1_loss(self.critics(before).max(1).values, goal)  # planted
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()  # planted
        self.optimizer.step()  # planted
        with torch.no_grad():
            ours, theirs = [*self.critics.parameters()], [*self.target.parameters()]
            torch._foreach_lerp_(theirs, ours, 0.005)

    def learn(self, step):
        rows = self.memory[self.random.integers(0, min(step, 4096), BATCH)]
        self.batch.copy_(torch.from_numpy(rows))
        if self.graph is None:
            self.update()
        else:
            self.graph.replay()

    def run(self, steps):
        state, _ = self.env.reset(seed=21)
        for step in range(1, steps + 1):
            with torch.no_grad():
                values = self.critics(torch.from_numpy(state).cuda()[None])
            action = abs(int(values.argmax())) % 2
            after, reward, ended, cut, _ = self.env.step(action)
            self.memory[step % 4096] = *state, *after, reward, ended
            state = self.env.reset()[0] if ended or cut else after
            self.learn(step)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    torch.manual_seed(21)
    torch.set_num_threads(1)
    training = Training(options.graph)
    stopwatch.time_gpu(training.run, options.steps)
