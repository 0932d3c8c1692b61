"""Q-learning with a table on a swinging pole; its bins are made in each step, or once."""

import argparse
import math
import random

import numpy as np
import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--kept", action="store_true")
parser.add_argument("--steps", type=int, default=300_000)
options = parser.parse_args()
random.seed(0)
ANGLES, SPEEDS = np.linspace(-math.pi, math.pi, 24), np.linspace(-8, 8, 24)


class Pole:
    def reset(self):
        self.angle, self.speed, self.age = random.uniform(-3, 3), 0.0, 0
        return self.angle, self.speed

    def step(self, action):
        self.speed += 0.05 * (10 * math.sin(self.angle) + 3 * (action - 1))
        self.speed = min(max(self.speed, -8.0), 8.0)
        self.angle = (self.angle + 0.05 * self.speed + math.pi) % (2 * math.pi) - math.pi
        self.age += 1
        return (self.angle, self.speed), -abs(self.angle), self.age >= 200, {}


class Agent:
    def __init__(self):
        self.low, self.high, self.cells = -8, 8, 24
        self.values = np.zeros((25, 25, 3))

    def cell(self, seen):
        angle, speed = seen
        if options.kept:
            return ANGLES.searchsorted(angle), SPEEDS.searchsorted(speed)
        angles = np.linspace(-np.pi, np.pi, 24)  # planted
        speeds = np.linspace(self.low, self.high, self.cells)  # planted
        return angles.searchsorted(angle), speeds.searchsorted(speed)

    def act(self, cell):
        return random.randrange(3) if random.random() < 0.1 else int(self.values[cell].argmax())

    def learn(self, cell, action, reward, after):
        goal = reward + 0.98 * self.values[after].max()
        self.values[cell][action] += 0.1 * (goal - self.values[cell][action])


def main():
    env, agent = Pole(), Agent()
    cell = agent.cell(env.reset())
    for _ in range(options.steps):
        action = agent.act(cell)
        seen, reward, done, _ = env.step(action)
        after = agent.cell(seen)
        agent.learn(cell, action, reward, after)
        cell = agent.cell(env.reset()) if done else after


began = stopwatch.now()
main()
print(f"loop {stopwatch.now() - began:.6f}")
