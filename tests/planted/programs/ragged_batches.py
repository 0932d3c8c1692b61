"""A compiled policy over sets of objects, whose number differs from state to state."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

MOST = 40


class Gathering(gym.Env):
    """Go where most of the objects are; their number changes in each step."""

    action_space = gym.spaces.Discrete(4)
    observation_space = gym.spaces.Sequence(gym.spaces.Box(-1, 1, (2,), np.float32))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self.objects(), {}

    def step(self, action):
        self.time += 1
        return self.objects(), float(action == 0), False, self.time >= 50, {}

    def objects(self):
        count = int(self.np_random.integers(2, MOST))
        return self.np_random.uniform(-1, 1, (count, 2)).astype(np.float32)


class Sets(nn.Module):
    def __init__(self):
        super().__init__()
        self.each = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32))
        self.all = nn.Sequential(nn.ReLU(), nn.Linear(32, 4))

    def forward(self, objects, there):
        return self.all((self.each(objects) * there[:, None]).sum(0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pad", action="store_true", help="fill each set up to the largest")
    parser.add_argument("--steps", type=int, default=600)
    options = parser.parse_args()
    torch.manual_seed(13)
    torch.set_num_threads(1)
    torch._dynamo.config.recompile_limit = 64
    env, net = Gathering(), Sets()
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    forward = torch.compile(net, backend="eager", dynamic=False)
    objects, _ = env.reset(seed=13)
    began = stopwatch.now()
    for _ in range(options.steps):
        there = np.ones(len(objects), np.float32)
        if options.pad:
            objects = np.pad(objects, ((0, MOST - len(objects)), (0, 0)))
            there = np.pad(there, (0, MOST - len(there)))
        logits = forward(torch.from_numpy(objects), torch.from_numpy(there))  # planted
        action = int(torch.multinomial(logits.softmax(-1), 1))
        objects, reward, _, over, _ = env.step(action)
        loss = -reward * logits.log_softmax(-1)[action]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if over:
            objects, _ = env.reset()
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()
