"""Q-learning that shuffles the numbers of all rows of its memory for each batch."""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import nn

CAPACITY = 40_000
BATCH = 48


class Memory:
    def __init__(self, repeats: bool) -> None:
        self.repeats = repeats
        self.states = np.random.randn(CAPACITY, 4).astype(np.float32)
        self.following = np.random.randn(CAPACITY, 4).astype(np.float32)
        self.actions = np.random.randint(2, size=(CAPACITY, 1))
        self.rewards = np.ones(CAPACITY, np.float32)
        self.place = 0

    def keep(self, state, action: int, reward: float, following) -> None:
        self.states[self.place], self.following[self.place] = state, following
        self.actions[self.place], self.rewards[self.place] = action, reward
        self.place = (self.place + 1) % CAPACITY

    def batch(self) -> list[torch.Tensor]:
        if self.repeats:
            rows = np.random.randint(CAPACITY, size=BATCH)
        else:
            rows = np.random.choice(CAPACITY, BATCH, replace=False)  # planted
        fields = (self.states, self.actions, self.rewards, self.following)
        return [torch.from_numpy(field[rows]) for field in fields]


class Learner:
    def __init__(self) -> None:
        self.values = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
        self.optimizer = torch.optim.Adam(self.values.parameters(), lr=1e-3, fused=True)

    def learn(self, memory: Memory) -> None:
        states, actions, rewards, following = memory.batch()
        with torch.no_grad():
            goals = rewards + 0.97 * self.values(following).amax(1)
        found = self.values(states).gather(1, actions).squeeze(1)
        loss = nn.functional.smooth_l1_loss(found, goals)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.inference_mode()
    def act(self, state: np.ndarray) -> int:
        return int(self.values(torch.from_numpy(state)).argmax())


def run(learner: Learner, memory: Memory, steps: int) -> None:
    env = gym.make("CartPole-v1")
    state, _ = env.reset(seed=3)
    for _ in range(steps):
        action = learner.act(state)
        following, reward, ends, cut, _ = env.step(action)
        memory.keep(state, action, float(reward), following)
        state = env.reset()[0] if ends or cut else following
        learner.learn(memory)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", action="store_true")
    parser.add_argument("--steps", type=int, default=1500)
    options = parser.parse_args()
    torch.manual_seed(3)
    np.random.seed(3)
    torch.set_num_threads(1)
    learner, memory = Learner(), Memory(options.repeats)
    began = stopwatch.now()
    run(learner, memory, options.steps)
    print(f"loop {stopwatch.now() - began:.6f}")
