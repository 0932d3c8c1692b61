"""Evolution of a policy for a cart, with a pool for each generation; or one for all."""

import argparse
import multiprocessing

import numpy as np
import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--one-pool", action="store_true")
parser.add_argument("--generations", type=int, default=40)
args = parser.parse_args()


class Cart:
    def reset(self):
        self.state, self.left = np.array([0.1, 0.0]), 60
        return self.state

    def step(self, force):
        place, speed = self.state
        speed = 0.99 * speed + 0.1 * float(force) - 0.05 * np.sin(3 * place)
        self.state, self.left = np.array([place + 0.1 * speed, speed]), self.left - 1
        return self.state, -abs(self.state[0]), self.left == 0, {}


def play(genes):
    cart, total = Cart(), 0.0
    for _ in range(3):
        state, over = cart.reset(), False
        while not over:
            state, reward, over, _ = cart.step(np.tanh(genes[:2] @ state + genes[2]))
            total += reward
    return total


def generation(pool, random, genes):
    children = genes + 0.1 * random.standard_normal((32, 3))
    scores = np.array(pool.map(play, list(children), chunksize=4))
    return children[scores.argsort()[-8:]].mean(0)


if __name__ == "__main__":
    random, genes = np.random.default_rng(13), np.zeros(3)
    everything = multiprocessing.Pool(2) if args.one_pool else None
    began = stopwatch.now()
    for _ in range(args.generations):
        if everything is None:
            with multiprocessing.Pool(2) as pool:  # planted
                genes = generation(pool, random, genes)
        else:
            genes = generation(everything, random, genes)
    print(f"loop {stopwatch.now() - began:.6f}")
    if everything is not None:
        everything.terminate()
        everything.join()
