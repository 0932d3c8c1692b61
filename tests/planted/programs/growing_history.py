"""Keeps what it saw in an array that grows by each step, or in one that is large from the start."""

import argparse

import numpy as np
import stopwatch
from gymnasium.envs.classic_control import MountainCarEnv

parser = argparse.ArgumentParser()
parser.add_argument("--large", action="store_true")
parser.add_argument("--steps", type=int, default=2500)
options = parser.parse_args()


class History:
    """All features that were seen; rows are steps."""

    def __init__(self, width):
        self.count = 0
        self.rows = np.zeros((options.steps if options.large else 0, width))

    def append(self, row):
        if options.large:
            self.rows[self.count] = row
        else:
            self.rows = np.concatenate([self.rows, row[None]])  # planted
        self.count += 1

    def sample(self, rng, size):
        return self.rows[rng.integers(0, self.count, size)]


class Features:
    def __init__(self, rng, count=128):
        self.weights = rng.normal(size=(2, count)) * [[2], [20]]
        self.shift = rng.uniform(0, 2 * np.pi, count)

    def __call__(self, state):
        return np.cos(state @ self.weights + self.shift)


class LeastSquares:
    def __init__(self, width, actions):
        self.theta = np.zeros((actions, width))

    def act(self, x, rng):
        return int(rng.integers(3)) if rng.random() < 0.1 else int((self.theta @ x).argmax())

    def learn(self, batch, action, goal):
        error = goal - batch @ self.theta[action]
        self.theta[action] += 0.01 * error @ batch / len(batch)


def main():
    rng = np.random.default_rng(8)
    env, features = MountainCarEnv(), Features(rng)
    model, history = LeastSquares(128, 3), History(128)
    state, _ = env.reset(seed=8)
    began = stopwatch.now()
    for step in range(options.steps):
        x = features(state)
        action = model.act(x, rng)
        state, reward, over, _, _ = env.step(action)
        history.append(x)
        goal = reward + 0.99 * (model.theta @ features(state)).max()
        for _ in range(3):
            model.learn(history.sample(rng, 64), action, goal)
        if over or step % 200 == 199:
            state, _ = env.reset()
    print(f"loop {stopwatch.now() - began:.6f}")


main()
