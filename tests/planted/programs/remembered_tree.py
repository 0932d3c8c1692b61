"""Plans with a tree of objects that is kept between moves, and collected after each of them."""

import argparse
import gc
import math
import random

import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--no-collections", action="store_true")
parser.add_argument("--moves", type=int, default=30)
options = parser.parse_args()
random.seed(11)


class Env:
    """Walk on a line to the right end."""

    def __init__(self):
        self.place = 0

    def reset(self, *, seed=None):
        self.place = 0
        return self.place, {}

    def step(self, action):
        self.place += action - 1
        return self.place, float(self.place > 20), self.place > 20, False, {}


class Node:
    def __init__(self, place, parent):
        self.place, self.parent = place, parent
        self.children, self.visits, self.value = {}, 0, 0.0
        self.notes = [place, [parent]]

    def score(self, child):
        return child.value / (child.visits + 1) + math.sqrt(
            math.log(self.visits + 2) / (child.visits + 1)
        )


class Planner:
    def __init__(self):
        self.all = []

    def expand(self, node):
        for action in range(3):
            node.children[action] = Node(node.place + action - 1, node)
            self.all.append(node.children[action])

    def simulate(self, root):
        node = root
        while node.children:
            node = max(node.children.values(), key=node.score)
        self.expand(node)
        value = random.random() + node.place / 20
        while node is not None:
            node.visits += 1
            node.value += value
            node = node.parent

    def choose(self, place):
        root = Node(place, None)
        self.all.append(root)
        for _ in range(500):
            self.simulate(root)
        if not options.no_collections:
            gc.collect()  # planted
        return max(root.children, key=lambda action: root.children[action].visits)


if options.no_collections:
    gc.disable()
env, planner = Env(), Planner()
# What the planner learnt in earlier games.
earlier = Node(0, None)
for _ in range(20000):
    planner.expand(random.choice(planner.all) if planner.all else earlier)
place, _ = env.reset(seed=1)
began = stopwatch.now()
for move in range(options.moves):
    place, reward, over, _, _ = env.step(planner.choose(place))
    if over:
        place, _ = env.reset()
print(f"loop {stopwatch.now() - began:.6f}")
