"""A loop of three operations; --slow makes the work of one of them larger by that share."""

import argparse
import math

import rlscope as rls


def work(steps: int) -> float:
    total = 0.0
    for step in range(steps):
        total += math.sqrt(step)
    return total


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--slow", type=float, default=0.0)
    arguments = parser.parse_args()
    for _ in range(arguments.iterations):
        rls.iteration()
        with rls.operation("collect"):
            for _ in range(20):
                with rls.operation("inference"):
                    work(2000)
                with rls.operation("simulation"):
                    work(round(3000 * (1 + arguments.slow)))
        with rls.operation("backprop"):
            work(60000)


main()
