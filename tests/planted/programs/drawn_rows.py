"""A softmax policy of plain NumPy on many small mazes; actions drawn row by row, or all at once."""

import argparse

import numpy as np
import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--at-once", action="store_true")
parser.add_argument("--updates", type=int, default=150)
options = parser.parse_args()
rng = np.random.default_rng(0)
MAZES, SIZE, STEPS = 48, 8, 50
ROWS = np.arange(MAZES)
MOVES = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])


class Mazes:
    """Walls are where they are; the exit is the last corner."""

    def reset(self):
        self.places, self.age = np.zeros((MAZES, 2), int), 0
        self.walls = rng.random((MAZES, SIZE, SIZE)) < 0.2
        self.walls[:, 0, 0] = self.walls[:, -1, -1] = False
        return self.places.copy()

    def step(self, actions):
        wished = np.clip(self.places + MOVES[actions], 0, SIZE - 1)
        free = ~self.walls[ROWS, wished[:, 0], wished[:, 1]]
        self.places = np.where(free[:, None], wished, self.places)
        self.age += 1
        found = (self.places == SIZE - 1).all(1)
        return self.places.copy(), found - 0.01, self.age >= STEPS, {}


def softmax(logits):
    raised = np.exp(logits - logits.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def draw(chances):
    if options.at_once:
        return (chances.cumsum(1) > rng.random((len(chances), 1))).argmax(1)
    actions = np.zeros(len(chances), int)
    for row, chance in enumerate(chances):
        actions[row] = rng.choice(len(MOVES), p=chance)  # planted
    return actions


def main():
    env, table = Mazes(), np.zeros((SIZE, SIZE, len(MOVES)))
    for _ in range(options.updates):
        places, done, kept = env.reset(), False, []
        while not done:
            chances = softmax(table[places[:, 0], places[:, 1]])
            actions = draw(chances)
            before = places
            places, rewards, done, _ = env.step(actions)
            kept.append((before, actions, chances, rewards))
        returns = np.zeros(MAZES)
        for before, actions, chances, rewards in reversed(kept):
            returns = rewards + 0.97 * returns
            change = -chances
            change[ROWS, actions] += 1
            np.add.at(table, (before[:, 0], before[:, 1]), 0.01 * returns[:, None] * change)


began = stopwatch.now()
main()
print(f"loop {stopwatch.now() - began:.6f}")
