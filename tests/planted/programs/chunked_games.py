"""Evolution whose games are long for some candidates; two workers get half of them in advance, or
one after the other."""

import argparse
import multiprocessing
import time

import numpy as np
import stopwatch

parser = argparse.ArgumentParser()
parser.add_argument("--one-by-one", action="store_true")
parser.add_argument("--rounds", type=int, default=12)


def play(candidate):
    """Games last as long as the candidate survives: those with a high first weight, far longer."""
    length = 0.002 + 0.012 * max(candidate[0], 0)
    time.sleep(length)  # a simulator that needs no core of this machine
    return float(-np.square(candidate - 1).sum()) + length


def main():
    options = parser.parse_args()
    rng = np.random.default_rng(9)
    mean = np.zeros(16)
    with multiprocessing.Pool(2) as pool:
        pool.map(play, [mean] * 2)
        began = stopwatch.now()
        for _ in range(options.rounds):
            candidates = mean + rng.normal(0, 1, (32, 16))
            candidates = candidates[np.argsort(candidates[:, 0])]
            chunk = 1 if options.one_by_one else 16
            scores = np.array(pool.map(play, candidates, chunksize=chunk))  # planted
            best = candidates[np.argsort(scores)[-8:]]
            mean = 0.7 * mean + 0.3 * best.mean(0)
        print(f"loop {stopwatch.now() - began:.6f}")


if __name__ == "__main__":
    main()
