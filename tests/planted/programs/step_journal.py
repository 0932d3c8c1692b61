"""Tabular Q-learning that journals each transition to a file."""

import argparse
import csv
import os
import tempfile

import gymnasium as gym
import numpy as np
import stopwatch


class Journal:
    """One row a step, so that a run can be replayed."""

    def __init__(self, path: str, durable: bool) -> None:
        self.file = open(path, "w", newline="")
        self.rows = csv.writer(self.file)
        self.durable = durable

    def write(self, *values: object) -> None:
        self.rows.writerow(values)
        if self.durable:
            self.file.flush()
            os.fsync(self.file.fileno())  # planted

    def close(self) -> None:
        self.file.close()


class Table:
    def __init__(self, states: int, actions: int) -> None:
        self.values = np.zeros((states, actions))
        self.random = np.random.default_rng(11)

    def choose(self, state: int) -> int:
        if self.random.random() < 0.1:
            return int(self.random.integers(self.values.shape[1]))
        return int(self.values[state].argmax())

    def learn(self, state: int, action: int, reward: float, after: int, done: bool) -> None:
        goal = reward + (0.0 if done else 0.95 * self.values[after].max())
        self.values[state, action] += 0.1 * (goal - self.values[state, action])


def train(steps: int, durable: bool) -> None:
    env = gym.make("FrozenLake-v1", is_slippery=True)
    table = Table(env.observation_space.n, env.action_space.n)
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        journal = Journal(os.path.join(folder, "journal.csv"), durable)
        state, _ = env.reset(seed=11)
        for step in range(steps):
            action = table.choose(state)
            after, reward, terminated, truncated, _ = env.step(action)
            table.learn(state, action, reward, after, terminated)
            journal.write(step, state, action, reward, after)
            state = env.reset()[0] if terminated or truncated else after
        journal.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--buffered", action="store_true")
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args()
    began = stopwatch.now()
    train(options.steps, not options.buffered)
    print(f"loop {stopwatch.now() - began:.6f}")
