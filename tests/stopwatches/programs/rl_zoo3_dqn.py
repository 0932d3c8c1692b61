"""`python -m rl_zoo3.train --algo dqn --env CartPole-v1`, with evaluations and checkpoints."""

import functools
import sys
import tempfile

from rl_zoo3 import train
from rl_zoo3.exp_manager import ExperimentManager
from stopwatch import Stopwatch


def timed(learn):
    """Starts the stopwatch where the zoo has made the model, and begins to train it."""

    @functools.wraps(learn)
    def call(manager, model):
        stopwatch = Stopwatch()
        stopwatch.wrap("simulation", model.env, "step", "reset")
        stopwatch.wrap("inference", type(model), "_sample_action")
        stopwatch.wrap("replay", model.replay_buffer, "add", "sample")
        stopwatch.wrap("learning", type(model), "train")
        for callback in manager.callbacks:
            stopwatch.wrap("evaluation", callback, "_on_step")
        with stopwatch:
            return learn(manager, model)

    return call


def main():
    ExperimentManager.learn = timed(ExperimentManager.learn)
    with tempfile.TemporaryDirectory() as folder:
        sys.argv[1:] = [
            *("--algo", "dqn", "--env", "CartPole-v1", "--seed", "1", "--verbose", "0"),
            *("--n-timesteps", "6000", "--eval-freq", "2000", "--eval-episodes", "5"),
            *("--hyperparams", "learning_starts:500", "gradient_steps:16", "train_freq:32"),
            *("--log-folder", folder),
        ]
        train.train()


if __name__ == "__main__":
    main()
