"""A loop of operations that load different parts of a machine: small and large products of
matrices, plain Python, and reads all over memory. --slow makes one of them larger by that share."""

import argparse

import numpy as np

import rlscope as rls

STEPS = 20


def simulate(steps: int) -> float:
    state = {"position": 0.0, "speed": 1.0}
    for step in range(steps):
        state["speed"] += 0.01 if step % 7 else -0.05
        state["position"] += 0.1 * state["speed"]
    return state["position"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--slow", type=float, default=0.0)
    arguments = parser.parse_args()
    generator = np.random.default_rng(0)
    small, large = (
        generator.normal(size=(size, size)).astype(np.float32) / size for size in (32, 192)
    )
    replay = np.zeros((1 << 20, 16), np.float32)  # 64 MiB: more than caches hold
    steps = round(2000 * (1 + arguments.slow))
    for _ in range(arguments.iterations):
        rls.iteration()
        with rls.operation("collect"):
            for _ in range(STEPS):
                with rls.operation("inference"):
                    values = small
                    for _ in range(30):
                        values = np.tanh(values @ small)
                with rls.operation("simulation"):
                    simulate(steps)
        with rls.operation("sample"):
            for _ in range(8):
                batch = replay[generator.integers(len(replay), size=2048)]
        with rls.operation("update"):
            gradient = large
            for _ in range(8):
                gradient = np.tanh(gradient @ large)
        assert np.isfinite(batch.sum() + gradient.sum() + values.sum())


main()
