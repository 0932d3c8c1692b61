"""A table of Q values, with a callback that logs each step and makes sure that it is on disk."""

import argparse
import logging
import os
import tempfile

import gymnasium as gym
import numpy as np
import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--lazy", action="store_true")
parser.add_argument("--episodes", type=int, default=150)
options = parser.parse_args()


class Durable(logging.FileHandler):
    """Writes a line and waits until it is stored."""

    def emit(self, record):
        super().emit(record)
        if not options.lazy:
            os.fsync(self.stream.fileno())  # planted

    def flush(self):
        if not options.lazy:
            super().flush()


class Callback:
    def on_step(self, episode, step, reward, value):
        raise NotImplementedError


class Logged(Callback):
    def __init__(self, path):
        self.log = logging.getLogger("training")
        self.log.setLevel(logging.INFO)
        self.log.propagate = False
        self.log.addHandler(Durable(path))

    def on_step(self, episode, step, reward, value):
        self.log.info("%d %d reward %.2f value %.4f", episode, step, reward, value)


class Table:
    def __init__(self, env, bins=12):
        self.low = np.array([-2.4, -3.0, -0.21, -3.0])
        self.width = -2 * self.low / bins
        self.bins = bins
        self.values = np.zeros((bins,) * 4 + (env.action_space.n,))

    def place(self, observation):
        return tuple(np.clip((observation - self.low) // self.width, 0, self.bins - 1).astype(int))


def train(env, table, callbacks):
    rng = np.random.default_rng(4)
    for episode in range(options.episodes):
        observation, _ = env.reset(seed=episode)
        place, over, step = table.place(observation), False, 0
        while not over:
            action = (
                int(table.values[place].argmax()) if rng.random() > 0.2 else int(rng.integers(2))
            )
            observation, reward, terminated, truncated, _ = env.step(action)
            following = table.place(observation)
            goal = reward + 0.99 * table.values[following].max() * (not terminated)
            table.values[place][action] += 0.1 * (goal - table.values[place][action])
            for callback in callbacks:
                callback.on_step(episode, step, reward, goal)
            place, over, step = following, terminated or truncated, step + 1


with tempfile.TemporaryDirectory(dir=".") as folder:
    env = gym.make("CartPole-v1")
    callbacks = [Logged(os.path.join(folder, "steps.log"))]
    began = stopwatch.now()
    train(env, Table(env), callbacks)
    print(f"loop {stopwatch.now() - began:.6f}")
