"""An actor-critic that remembers, trained each few steps; its memory keeps all graphs, or none."""

import argparse

import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--detach", action="store_true")
parser.add_argument("--updates", type=int, default=100)
options = parser.parse_args()
torch.manual_seed(0)


class Corridor:
    """Which side was right is shown at the first of eight steps only."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def reset(self):
        self.age, self.side = 0, int(self.rng.integers(2))
        return np.array([1.0 - 2.0 * self.side, 0.0], np.float32)

    def step(self, action):
        self.age += 1
        done = self.age == 8
        reward = float(done and action == self.side)
        return np.array([0.0, self.age / 8], np.float32), reward, done, {}


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.GRUCell(2, 48)
        self.heads = nn.Linear(48, 3)

    def forward(self, seen, state):
        state = self.memory(seen, state)
        out = self.heads(state)
        return out[:, :2], out[:, 2], state


def play(env, agent, seen, state):
    chosen, values, rewards = [], [], []
    for _ in range(8):
        logits, value, state = agent(torch.from_numpy(seen)[None], state)
        with torch.no_grad():
            action = int(torch.multinomial(logits.softmax(-1), 1))
        seen, reward, done, _ = env.step(action)
        chosen.append(logits.log_softmax(-1)[0, action])
        values.append(value[0])
        rewards.append(reward)
        if done:
            seen = env.reset()
    return torch.stack(chosen), torch.stack(values), rewards, seen, state


def main():
    env, agent = Corridor(), Agent()
    seen, state = env.reset(), torch.zeros(1, 48)
    for _ in range(options.updates):
        chosen, values, rewards, seen, state = play(env, agent, seen, state)
        returns = torch.tensor(np.cumsum(rewards[::-1])[::-1].copy(), dtype=torch.float32)
        gain = (returns - values).detach()
        loss = -(gain * chosen).sum() + (returns - values).square().sum()
        agent.zero_grad()
        if options.detach:
            state = state.detach()
            loss.backward()
        else:
            loss.backward(retain_graph=True)  # planted
        # An optimizer's step would refuse graphs of what it changed.
        weights = [each.data for each in agent.parameters()]
        torch._foreach_sub_(weights, [each.grad for each in agent.parameters()], alpha=1e-4)


began = stopwatch.now()
main()
print(f"loop {stopwatch.now() - began:.6f}")
