"""Q-learning in a maze; distances to the exit are searched in each step, or once."""

import argparse
import random
from collections import deque

import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--once", action="store_true")
parser.add_argument("--steps", type=int, default=12_000)
options = parser.parse_args()
random.seed(4)
SIDE, MOVES = 12, ((0, 1), (1, 0), (0, -1), (-1, 0))


class Maze:
    def __init__(self):
        cells = [(x, y) for x in range(SIDE) for y in range(SIDE)]
        self.exit = SIDE - 1, SIDE - 1
        self.walls = set(random.sample(cells[1:-1], 20))
        self.kept = None

    def reset(self):
        self.place, self.age = (0, 0), 0
        return self.place

    def neighbours(self, place):
        for dx, dy in MOVES:
            x, y = place[0] + dx, place[1] + dy
            if 0 <= x < SIDE and 0 <= y < SIDE and (x, y) not in self.walls:
                yield x, y

    def distances(self):
        far, queue = {self.exit: 0}, deque([self.exit])
        while queue:
            place = queue.popleft()
            for after in self.neighbours(place):
                if after not in far:
                    far[after] = far[place] + 1
                    queue.append(after)
        return far

    def far(self):
        if not options.once:
            return self.distances()  # planted
        if self.kept is None:
            self.kept = self.distances()
        return self.kept

    def step(self, action):
        before = self.place
        after = before[0] + MOVES[action][0], before[1] + MOVES[action][1]
        if after in set(self.neighbours(before)):
            self.place = after
        self.age += 1
        far = self.far()
        reward = far.get(before, 99) - far.get(self.place, 99)
        return self.place, reward, self.place == self.exit or self.age >= 100, {}


class Agent:
    def __init__(self):
        self.values = {}

    def act(self, place):
        values = self.values.setdefault(place, [0.0] * 4)
        return random.randrange(4) if random.random() < 0.2 else values.index(max(values))

    def learn(self, place, action, reward, after):
        following = self.values.setdefault(after, [0.0] * 4)
        values = self.values[place]
        values[action] += 0.2 * (reward + 0.95 * max(following) - values[action])


def main():
    env, agent = Maze(), Agent()
    place = env.reset()
    for _ in range(options.steps):
        action = agent.act(place)
        after, reward, done, _ = env.step(action)
        agent.learn(place, action, reward, after)
        place = env.reset() if done else after


began = stopwatch.now()
main()
print(f"loop {stopwatch.now() - began:.6f}")
