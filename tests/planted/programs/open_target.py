"""Q-learning whose target network records a graph, through which each backward goes."""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np
import stopwatch
import torch
from torch import Tensor, nn

ROWS, BATCH = 2048, 128


class Values(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.head = nn.Linear(128, 2)

    def forward(self, states: Tensor) -> Tensor:
        return self.head(self.body(states))


class Learner:
    def __init__(self) -> None:
        self.online, self.slow = Values(), Values()
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3, fused=True)
        self.updates = 0

    def follow(self) -> None:
        if self.updates % 100 == 0:
            self.slow.load_state_dict(self.online.state_dict())
        self.updates += 1

    def learn(self, rows: tuple[Tensor, ...]) -> None:
        states, actions, rewards, following, ends = rows
        self.follow()
        after = self.slow(following).max(1).values  # planted
        goals = rewards + 0.99 * (1 - ends) * after
        chosen = self.online(states).gather(1, actions)[:, 0]
        error = nn.functional.smooth_l1_loss(chosen, goals)
        self.optimizer.zero_grad()
        error.backward()
        self.optimizer.step()


class Detaching(Learner):
    def learn(self, rows: tuple[Tensor, ...]) -> None:
        states, actions, rewards, following, ends = rows
        self.follow()
        with torch.no_grad():
            goals = rewards + 0.99 * (1 - ends) * self.slow(following).max(1).values
        chosen = self.online(states).gather(1, actions)[:, 0]
        error = nn.functional.smooth_l1_loss(chosen, goals)
        self.optimizer.zero_grad()
        error.backward()
        self.optimizer.step()


def run(learner: Learner, steps: int) -> None:
    env = gym.make("CartPole-v1")
    random = np.random.default_rng(11)
    states, following = torch.zeros(ROWS, 4), torch.zeros(ROWS, 4)
    actions, rewards = torch.zeros(ROWS, 1, dtype=torch.long), torch.ones(ROWS)
    ends = torch.zeros(ROWS)
    state, _ = env.reset(seed=11)
    for step in range(steps):
        place, now = step % ROWS, torch.from_numpy(state)
        with torch.inference_mode():
            action = int(learner.online(now).argmax())
        after, _, fell, cut, _ = env.step(action)
        states[place], following[place] = now, torch.from_numpy(after)
        actions[place, 0], ends[place] = action, float(fell)
        state = env.reset()[0] if fell or cut else after
        at = torch.from_numpy(random.integers(0, min(step + 1, ROWS), BATCH))
        learner.learn((states[at], actions[at], rewards[at], following[at], ends[at]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--detached", action="store_true")
    parser.add_argument("--steps", type=int, default=1500)
    options = parser.parse_args()
    torch.manual_seed(11)
    torch.set_num_threads(1)
    learner = Detaching() if options.detached else Learner()
    began = stopwatch.now()
    run(learner, options.steps)
    print(f"loop {stopwatch.now() - began:.6f}")
