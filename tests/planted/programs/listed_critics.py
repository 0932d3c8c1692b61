"""Ten small critics in a list, asked one after the other; or with their weights in one tensor."""

import argparse
from itertools import pairwise

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn
from torch.nn import functional

parser = argparse.ArgumentParser()
parser.add_argument("--at-once", action="store_true")
parser.add_argument("--steps", type=int, default=1500)
options = parser.parse_args()
CRITICS, SIZES = 10, (4, 32, 32, 2)


def critic():
    layers = [(nn.Linear(a, b), nn.ReLU()) for a, b in pairwise(SIZES)]
    return nn.Sequential(*[each for pair in layers for each in pair][:-1])


class Stacked(nn.Module):
    """All critics of a list, of which each layer is one product."""

    def __init__(self, critics):
        super().__init__()
        layers = [[c[n] for c in critics] for n in range(0, len(critics[0]), 2)]
        weights = [torch.stack([each.weight.detach().T for each in layer]) for layer in layers]
        biases = [torch.stack([each.bias.detach() for each in layer])[:, None] for layer in layers]
        self.weights, self.biases = nn.ParameterList(weights), nn.ParameterList(biases)

    def forward(self, x):
        x = x.expand(CRITICS, *x.shape)
        for place, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x if place == 0 else x.relu(), weight)
        return x


class Learner:
    def __init__(self):
        self.critics = [critic() for _ in range(CRITICS)]
        self.targets = [critic() for _ in range(CRITICS)]
        self.all, self.all_targets = Stacked(self.critics), Stacked(self.targets)
        parts = [self.all] if options.at_once else self.critics
        weights = [each for part in parts for each in part.parameters()]
        self.optimizer = torch.optim.Adam(weights, 1e-3, fused=True)

    def target(self, reward, following):
        with torch.no_grad():
            if options.at_once:
                values = self.all_targets(following)
            else:
                values = torch.stack([net(following) for net in self.targets])  # planted
            return reward + 0.99 * values.min(0).values.max(-1).values

    def loss(self, seen, action, target):
        if options.at_once:
            chosen = self.all(seen).gather(-1, action.expand(CRITICS, -1)[..., None])
            return (chosen[..., 0] - target).square().mean(-1).sum()
        loss = 0.0
        for net in self.critics:
            chosen = net(seen).gather(-1, action[:, None])[:, 0]  # planted
            loss = loss + functional.mse_loss(chosen, target)
        return loss

    def update(self, seen, action, reward, following):
        loss = self.loss(seen, action, self.target(reward, following))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


torch.manual_seed(5)
rng = np.random.default_rng(5)
env = gym.make("CartPole-v1")
learner = Learner()
memory = [np.zeros((2000, *shape), kind) for shape, kind in (
    ((4,), np.float32), ((), np.int64), ((), np.float32), ((4,), np.float32))]  # fmt: skip
seen, _ = env.reset(seed=5)
began = stopwatch.now()
for step in range(options.steps):
    with torch.no_grad():
        action = int(learner.critics[0](torch.from_numpy(seen)).argmax())
    action = action if rng.random() > 0.1 else int(rng.integers(2))
    following, reward, ended, cut, _ = env.step(action)
    for column, value in zip(memory, (seen, action, reward, following), strict=True):
        column[step % 2000] = value
    seen = env.reset()[0] if ended or cut else following
    if step >= 64:
        rows = rng.integers(0, min(step, 2000), 64)
        learner.update(*(torch.from_numpy(column[rows]) for column in memory))
print(f"loop {stopwatch.now() - began:.6f}")
