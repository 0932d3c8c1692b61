"""SARSA in a large maze, with a bonus for each pair of state and action that is new."""

import argparse
import random

import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--set", action="store_true")
parser.add_argument("--steps", type=int, default=40_000)
options = parser.parse_args()
random.seed(1)
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Maze:
    def __init__(self, side):
        self.side = side
        self.walls = {(random.randrange(side), random.randrange(side)) for _ in range(side * 8)}

    def reset(self):
        self.place, self.age = (self.side // 2, self.side // 2), 0
        return self.place

    def step(self, action):
        row, column = (a + b for a, b in zip(self.place, MOVES[action], strict=True))
        inside = 0 <= row < self.side and 0 <= column < self.side
        if inside and (row, column) not in self.walls:
            self.place = row, column
        self.age += 1
        return self.place, float(self.place == (0, 0)), self.age >= 400, {}


class Explorer:
    def __init__(self):
        self.values = {}
        self.pairs = set()
        self.visited = []

    def of(self, state):
        return self.values.setdefault(state, [0.0] * len(MOVES))

    def act(self, state):
        values = self.of(state)
        best = max(values)
        chosen = [action for action, value in enumerate(values) if value == best]
        return random.choice(chosen) if random.random() > 0.1 else random.randrange(len(MOVES))

    def bonus(self, state, action):
        if options.set:
            if (state, action) in self.pairs:
                return 0.0
            self.pairs.add((state, action))
            return 0.1
        if (state, action) in self.visited:  # planted
            return 0.0
        self.visited.append((state, action))
        return 0.1

    def learn(self, state, action, reward, after, then):
        goal = reward + self.bonus(state, action) + 0.97 * self.of(after)[then]
        self.of(state)[action] += 0.2 * (goal - self.of(state)[action])


def main():
    maze, explorer = Maze(60), Explorer()
    state = maze.reset()
    action = explorer.act(state)
    for _ in range(options.steps):
        after, reward, done, _ = maze.step(action)
        then = explorer.act(after)
        explorer.learn(state, action, reward, after, then)
        state = maze.reset() if done else after
        action = explorer.act(state) if done else then


began = stopwatch.now()
main()
print(f"loop {stopwatch.now() - began:.6f}")
