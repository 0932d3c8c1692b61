"""Actor-critic over a vector made by hand, whose lambda returns are tensors or arrays."""

import argparse
from typing import NamedTuple

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--array", action="store_true")
parser.add_argument("--rounds", type=int, default=40)
options = parser.parse_args()
torch.manual_seed(2)
torch.set_num_threads(1)
torch.distributions.Distribution.set_default_validate_args(False)


class Step(NamedTuple):
    observation: torch.Tensor
    action: torch.Tensor
    reward: np.ndarray
    ended: np.ndarray
    value: torch.Tensor


class Vector:
    """Environments that step one after the other."""

    def __init__(self, count):
        self.envs = [gym.make("CartPole-v1") for _ in range(count)]

    def reset(self):
        return np.stack([env.reset(seed=n)[0] for n, env in enumerate(self.envs)])

    def step(self, actions):
        rows = []
        for env, action in zip(self.envs, actions):
            observation, reward, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                observation, _ = env.reset()
            rows.append((observation, reward, terminated or truncated))
        observations, rewards, ended = zip(*rows)
        return np.stack(observations), np.array(rewards, np.float32), np.array(ended, np.float32)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 64), nn.Tanh())
        self.policy = nn.Linear(64, 2)
        self.value = nn.Linear(64, 1)

    def forward(self, observation):
        hidden = self.trunk(observation)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


def of_tensors(steps, last):
    rewards = torch.stack([torch.from_numpy(s.reward) for s in steps])
    alive = 1 - torch.stack([torch.from_numpy(s.ended) for s in steps])
    values = torch.stack([*(s.value for s in steps), last])
    returns = torch.zeros_like(rewards)
    following = last
    for t in range(len(steps) - 1, -1, -1):
        blend = 0.05 * values[t + 1] + 0.95 * following  # planted
        following = rewards[t] + 0.99 * alive[t] * blend  # planted
        returns[t] = following  # planted
    return returns


def of_arrays(steps, last):
    values = np.stack([*(s.value.numpy() for s in steps), last.numpy()])
    returns = np.zeros((len(steps), values.shape[1]), np.float32)
    following = values[-1]
    for t, step in reversed(list(enumerate(steps))):
        following = step.reward + 0.99 * (1 - step.ended) * (
            0.05 * values[t + 1] + 0.95 * following
        )
        returns[t] = following
    return torch.from_numpy(returns)


class Trainer:
    def __init__(self):
        self.vector = Vector(2)
        self.model = ActorCritic()
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True)
        self.observations = self.vector.reset()

    def collect(self, count):
        for _ in range(count):
            seen = torch.from_numpy(self.observations)
            with torch.inference_mode():
                logits, value = self.model(seen)
                action = torch.multinomial(logits.softmax(-1), 1).squeeze(-1)
            self.observations, reward, ended = self.vector.step(action.numpy())
            yield Step(seen, action.clone(), reward, ended, value)

    def update(self):
        steps = list(self.collect(512))
        with torch.no_grad():
            _, last = self.model(torch.from_numpy(self.observations))
            returns = (of_arrays if options.array else of_tensors)(steps, last)
        logits, values = self.model(torch.stack([s.observation for s in steps]))
        actions = torch.stack([s.action for s in steps])
        chosen = logits.log_softmax(-1).gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        loss = -(chosen * (returns - values.detach())).mean() + (returns - values).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


trainer = Trainer()
began = stopwatch.now()
for _ in range(options.rounds):
    trainer.update()
print(f"loop {stopwatch.now() - began:.6f}")
