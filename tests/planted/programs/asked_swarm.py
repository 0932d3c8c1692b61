"""Robots that must not meet; what they see, their reward and the end of an episode need all
distances, which each computes, or the step does once."""

import argparse
import math
import random

import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--once", action="store_true")
parser.add_argument("--steps", type=int, default=20_000)
options = parser.parse_args()
random.seed(1)


class Swarm:
    def __init__(self, robots):
        self.robots = robots

    def reset(self):
        self.places = [(random.random(), random.random()) for _ in range(self.robots)]
        self.age = 0
        return self.seen()

    def distances(self):
        found = []
        for number, (x, y) in enumerate(self.places):
            for other_x, other_y in self.places[:number]:
                found.append(math.hypot(x - other_x, y - other_y))
        return found

    def seen(self):
        return seen_of(self.distances())  # planted

    def reward(self):
        return reward_of(self.distances())  # planted

    def is_over(self):
        return min(self.distances()) < 0.001  # planted

    def step(self, action):
        robot = self.age % self.robots
        x, y = self.places[robot]
        self.places[robot] = min(max(x + 0.05 * (action - 1), 0), 1), y
        self.age += 1
        if options.once:
            far = self.distances()
            return seen_of(far), reward_of(far), min(far) < 0.001 or self.age >= 200, {}
        return self.seen(), self.reward(), self.is_over() or self.age >= 200, {}


def seen_of(far):
    return round(min(far), 1), round(max(far), 1)


def reward_of(far):
    return sum(far) / len(far)


class Agent:
    def __init__(self):
        self.values = {}

    def act(self, seen):
        values = self.values.setdefault(seen, [0.0] * 3)
        return random.randrange(3) if random.random() < 0.2 else values.index(max(values))

    def learn(self, seen, action, reward, after):
        goal = reward + 0.9 * max(self.values.setdefault(after, [0.0] * 3))
        self.values[seen][action] += 0.2 * (goal - self.values[seen][action])


def main():
    env, agent = Swarm(16), Agent()
    seen = env.reset()
    for _ in range(options.steps):
        action = agent.act(seen)
        after, reward, done, _ = env.step(action)
        agent.learn(seen, action, reward, after)
        seen = env.reset() if done else after


began = stopwatch.now()
main()
print(f"loop {stopwatch.now() - began:.6f}")
