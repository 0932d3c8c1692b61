"""Random search in plain NumPy, that normalizes by all it has seen; or by sums of that."""

import argparse

import numpy as np
import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--sums", action="store_true")
parser.add_argument("--iterations", type=int, default=3)
options = parser.parse_args()


class Springs:
    """Twelve masses in a row."""

    def __init__(self, rng):
        self.rng = rng
        self.stiffness = rng.uniform(0.5, 2.0, 12)

    def reset(self):
        self.place = self.rng.normal(0, 0.1, 12)
        self.speed = np.zeros(12)
        self.age = 0
        return np.concatenate([self.place, self.speed])

    def step(self, action):
        force = np.zeros(12)
        force[:6] = np.clip(action, -1, 1)
        for _ in range(4):
            pull = np.roll(self.place, 1) + np.roll(self.place, -1) - 2 * self.place
            self.speed += 0.01 * (force - self.stiffness * self.place + pull - 0.1 * self.speed)
            self.place += 0.01 * self.speed
        self.age += 1
        reward = float(self.speed[:6].sum() - 0.01 * action @ action)
        return np.concatenate([self.place, self.speed]), reward, self.age >= 200


class SeenFilter:
    def __init__(self, room, size):
        self.seen = np.zeros((room, size))
        self.count = 0
        self.total, self.squares = np.zeros(size), np.zeros(size)

    def __call__(self, observation):
        if options.sums:
            self.count += 1
            self.total += observation
            self.squares += observation * observation
            mean = self.total / self.count
            spread = np.sqrt(np.maximum(self.squares / self.count - mean * mean, 0))
            return (observation - mean) / (spread + 1e-6)
        self.seen[self.count % len(self.seen)] = observation
        self.count += 1
        past = self.seen[: self.count]
        mean = past.mean(axis=0)  # planted
        return (observation - mean) / (past.std(axis=0) + 1e-6)  # planted


def rollout(env, weights, normalize):
    observation, total, done = env.reset(), 0.0, False
    while not done:
        observation, reward, done = env.step(weights @ normalize(observation))
        total += reward
    return total


def main():
    rng = np.random.default_rng(0)
    env, weights, normalize = Springs(rng), np.zeros((6, 24)), SeenFilter(700, 24)
    for _ in range(options.iterations):
        deltas = rng.normal(size=(8, 6, 24))
        plus = np.array([rollout(env, weights + 0.05 * each, normalize) for each in deltas])
        minus = np.array([rollout(env, weights - 0.05 * each, normalize) for each in deltas])
        scale = np.concatenate([plus, minus]).std() + 1e-6
        weights += 0.02 / (8 * scale) * np.tensordot(plus - minus, deltas, 1)


began = stopwatch.now()
main()
print(f"loop {stopwatch.now() - began:.6f}")
