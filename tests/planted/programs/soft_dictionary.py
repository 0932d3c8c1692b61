"""DDPG of dataclasses, whose targets follow by their state dictionaries or all at once."""

import argparse
import copy
import itertools
from dataclasses import dataclass, field

import gymnasium as gym
import numpy as np
import stopwatch
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--together", action="store_true")
parser.add_argument("--steps", type=int, default=700)
options = parser.parse_args()
torch.manual_seed(1)
torch.set_num_threads(1)


def layers(inputs, outputs):
    sizes = [inputs, 24, 24, 24, outputs]
    parts = []
    for before, after in itertools.pairwise(sizes):
        parts += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


@dataclass
class Pair:
    """A network and the slow copy of it."""

    fast: nn.Module
    slow: nn.Module = field(init=False)

    def __post_init__(self):
        self.slow = copy.deepcopy(self.fast).requires_grad_(False)

    def follow(self, rate=0.005):
        if options.together:
            with torch.no_grad():
                torch._foreach_lerp_(
                    list(self.slow.parameters()), list(self.fast.parameters()), rate
                )
            return
        mixed = self.slow.state_dict()
        for name, value in self.fast.state_dict().items():
            mixed[name] = mixed[name] * (1 - rate) + value * rate  # planted
        self.slow.load_state_dict(mixed)


class Agent:
    def __init__(self):
        self.actor = Pair(layers(3, 1))
        self.critics = [Pair(layers(4, 1)) for _ in range(4)]
        fast = [p for c in self.critics for p in c.fast.parameters()]
        self.critic_optimizer = torch.optim.Adam(fast, lr=1e-3, fused=True)
        self.actor_optimizer = torch.optim.Adam(self.actor.fast.parameters(), lr=1e-4, fused=True)

    @torch.no_grad()
    def act(self, state):
        return self.actor.fast(torch.from_numpy(state)).tanh().mul(2).numpy()

    def learn(self, states, actions, rewards, following):
        with torch.no_grad():
            asked = torch.cat([following, self.actor.slow(following).tanh() * 2], 1)
            goal = rewards + 0.99 * torch.stack([c.slow(asked) for c in self.critics]).amin(0)
        seen = torch.cat([states, actions], 1)
        loss = sum(F.mse_loss(c.fast(seen), goal) for c in self.critics)
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        for pair in [self.actor, *self.critics]:
            pair.follow()


def main():
    env = gym.make("Pendulum-v1")
    agent = Agent()
    memory = {
        n: np.zeros((5000, w), np.float32) for n, w in (("s", 3), ("a", 1), ("r", 1), ("n", 3))
    }
    state, _ = env.reset(seed=1)
    rng = np.random.default_rng(1)
    began = stopwatch.now()
    for step in range(options.steps):
        action = agent.act(state)
        following, reward, terminated, truncated, _ = env.step(action)
        for key, value in zip("sarn", (state, action, reward, following)):
            memory[key][step] = value
        state = following
        if terminated or truncated:
            state, _ = env.reset()
        if step >= 32:
            rows = rng.integers(0, step, 32)
            agent.learn(*(torch.from_numpy(memory[key][rows]) for key in "sarn"))
    print(f"loop {stopwatch.now() - began:.6f}")


main()
