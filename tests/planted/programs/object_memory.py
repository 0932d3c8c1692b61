"""Experience kept as Python objects: many live objects, and more with each step."""

from __future__ import annotations

import argparse
import gc

import gymnasium as gym
import numpy as np
import stopwatch


class Step:
    """One transition, linked to the one before."""

    def __init__(self, state, action, reward, before) -> None:
        self.state, self.action, self.reward = state, action, reward
        self.before = before
        self.facts = {"visits": [0], "weights": [1.0, 0.0], "tags": [{"seed": 1}]}


def remember(count: int, rng: np.random.Generator) -> list[Step]:
    """What an earlier run has left."""
    steps: list[Step] = []
    for _ in range(count):
        state = rng.random(4)
        steps.append(Step(state.tolist(), int(state[0] > 0.5), 1.0, steps[-1] if steps else None))
    return steps


class Learner:
    def __init__(self, env: gym.Env, memory: list[Step]) -> None:
        self.env, self.memory = env, memory
        self.weights = np.zeros(4)
        self.rng = np.random.default_rng(10)

    def episode(self) -> None:
        state, _ = self.env.reset(seed=10)
        steps: list[Step] = []
        over = False
        while not over:
            action = int(self.weights @ state + self.rng.normal() > 0)
            after, reward, terminated, truncated, _ = self.env.step(action)
            steps.append(Step(state.tolist(), action, reward, steps[-1] if steps else None))
            state, over = after, terminated or truncated
        self.memory += steps

    def improve(self) -> None:
        for _ in range(120):
            chosen = self.rng.integers(0, len(self.memory), 16)
            states = np.array([self.memory[i].state for i in chosen])
            actions = np.array([self.memory[i].action for i in chosen])
            error = actions - (states @ self.weights > 0)
            self.weights += 1e-3 * error @ states


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--freeze", action="store_true")
    parser.add_argument("--collect-every", type=int, default=1)
    parser.add_argument("--episodes", type=int, default=50)
    options = parser.parse_args()
    gc.disable()
    memory = remember(12_000, np.random.default_rng(10))
    gc.enable()
    if options.freeze:
        gc.freeze()
    learner = Learner(gym.make("CartPole-v1"), memory)
    began = stopwatch.now()
    for episode in range(1, options.episodes + 1):
        learner.episode()
        learner.improve()
        if episode % options.collect_every == 0:
            gc.collect()  # planted
    print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()
