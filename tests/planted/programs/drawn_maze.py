"""A maze that draws itself for a viewer in every step, though nobody looks."""

import argparse

import gymnasium as gym
import numpy as np
import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--blind", action="store_true")
parser.add_argument("--steps", type=int, default=12000)
options = parser.parse_args()


class Maze(gym.Env):
    def __init__(self, size=12, render_mode=None):
        self.size, self.render_mode = size, render_mode
        self.action_space = gym.spaces.Discrete(4)
        self.observation_space = gym.spaces.Box(0, size, (2,), np.int64)
        self.walls = np.random.default_rng(14).random((size, size)) < 0.2
        self.walls[0, 0] = self.walls[-1, -1] = False
        self.frame = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = (0, 0)
        return self.at, {}

    def step(self, action):
        row, column = self.at
        to = (row + (action == 0) - (action == 1), column + (action == 2) - (action == 3))
        inside = 0 <= to[0] < self.size and 0 <= to[1] < self.size
        if inside and not self.walls[to]:
            self.at = to
        if self.render_mode:
            self.frame = self.render()  # planted
        over = self.at == (self.size - 1, self.size - 1)
        return self.at, float(over), over, False, {}

    def render(self):
        scale = 8
        picture = np.full((self.size * scale, self.size * scale, 3), 255, np.uint8)
        for row, column in np.argwhere(self.walls):
            picture[row * scale : (row + 1) * scale, column * scale : (column + 1) * scale] = (
                40  # planted
            )
        row, column = self.at
        picture[row * scale : (row + 1) * scale, column * scale : (column + 1) * scale] = (
            200,
            0,
            0,
        )
        return picture


class Sarsa:
    def __init__(self, size, rng):
        self.q, self.rng = np.zeros((size, size, 4)), rng

    def choose(self, at):
        return int(self.rng.integers(4)) if self.rng.random() < 0.2 else int(self.q[at].argmax())

    def update(self, at, action, reward, following, chosen):
        self.q[at][action] += 0.1 * (reward + 0.95 * self.q[following][chosen] - self.q[at][action])


env = Maze(render_mode=None if options.blind else "rgb_array")
agent = Sarsa(env.size, np.random.default_rng(15))
at, _ = env.reset(seed=15)
action = agent.choose(at)
began = stopwatch.now()
for _ in range(options.steps):
    following, reward, over, _, _ = env.step(action)
    chosen = agent.choose(following)
    agent.update(at, action, reward, following, chosen)
    at, action = following, chosen
    if over:
        at, _ = env.reset()
print(f"loop {stopwatch.now() - began:.6f}")
