"""A grid world that paints a picture of itself in each step, whether or not it is looked at."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch

SIDE, PIXELS = 8, 32


class Painted(gym.Env):
    observation_space = gym.spaces.Discrete(SIDE * SIDE)
    action_space = gym.spaces.Discrete(4)
    moves = ((0, 1), (1, 0), (0, -1), (-1, 0))

    def __init__(self, painted):
        self.painted, self.picture = painted, None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.row = self.column = 0
        self.time = 0
        return 0, {}

    def step(self, action):
        down, right = self.moves[action]
        self.row = min(max(self.row + down, 0), SIDE - 1)
        self.column = min(max(self.column + right, 0), SIDE - 1)
        self.time += 1
        if self.painted:
            self.picture = self.render()  # planted
        home = self.row == self.column == SIDE - 1
        return self.row * SIDE + self.column, float(home), home, self.time >= 100, {}

    def render(self):
        cells = np.zeros((SIDE, SIDE, 3), np.float32)
        cells[self.row, self.column] = 1, 0.5, 0
        picture = np.kron(cells, np.ones((PIXELS, PIXELS, 1), np.float32))
        rows, columns = np.mgrid[: SIDE * PIXELS, : SIDE * PIXELS]
        light = np.exp(-((rows - 100) ** 2 + (columns - 100) ** 2) / 2e4)
        return (255 * np.clip(picture * light[..., None] + 0.1, 0, 1)).astype(np.uint8)


class Sarsa:
    def __init__(self, env, seed):
        self.env, self.rng = env, np.random.default_rng(seed)
        self.values = np.zeros((env.observation_space.n, env.action_space.n))

    def act(self, state):
        if self.rng.random() < 0.1:
            return int(self.rng.integers(4))
        return int(self.rng.choice(np.flatnonzero(self.values[state] == self.values[state].max())))

    def update(self, state, action, reward, after, following):
        goal = reward + 0.95 * self.values[after, following]
        self.values[state, action] += 0.2 * (goal - self.values[state, action])

    def train(self, steps):
        state, _ = self.env.reset(seed=14)
        action = self.act(state)
        for _ in range(steps):
            after, reward, home, late, _ = self.env.step(action)
            following = self.act(after)
            self.update(state, action, reward, after, following)
            state, action = after, following
            if home or late:
                state, _ = self.env.reset()
                action = self.act(state)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--unpainted", action="store_true")
    parser.add_argument("--steps", type=int, default=700)
    options = parser.parse_args()
    agent = Sarsa(Painted(not options.unpainted), 14)
    began = stopwatch.now()
    agent.train(options.steps)
    print(f"loop {stopwatch.now() - began:.6f}")
