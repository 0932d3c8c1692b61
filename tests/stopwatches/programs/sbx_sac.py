"""SAC of SBX, which is JAX, on Pendulum."""

import jax
from sbx import SAC
from stopwatch import Stopwatch


def main():
    model = SAC("MlpPolicy", "Pendulum-v1", learning_starts=200, seed=1)

    stopwatch = Stopwatch()
    stopwatch.watch_jax()
    stopwatch.wrap("simulation", model.env, "step", "reset")
    stopwatch.wrap("inference", model, "_sample_action")
    stopwatch.wrap("replay", model.replay_buffer, "add", "sample")
    stopwatch.wrap("learning", model, "train", then=lambda _: jax.block_until_ready(model.key))
    with stopwatch:
        model.learn(1200)


if __name__ == "__main__":
    main()
