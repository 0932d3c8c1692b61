"""Truncated quantile critics of sb3-contrib on Pendulum, with an evaluation now and then."""

import warnings

import gymnasium as gym
from sb3_contrib import TQC
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.monitor import Monitor
from stopwatch import Stopwatch

warnings.simplefilter("ignore")


def main():
    model = TQC("MlpPolicy", "Pendulum-v1", learning_starts=200, seed=1)
    callback = EvalCallback(
        Monitor(gym.make("Pendulum-v1")), eval_freq=250, n_eval_episodes=3, verbose=0
    )

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", model.env, "step", "reset")
    stopwatch.wrap("inference", model, "_sample_action")
    stopwatch.wrap("replay", model.replay_buffer, "add", "sample")
    stopwatch.wrap("learning", model, "train")
    stopwatch.wrap("evaluation", callback, "_on_step")
    with stopwatch:
        model.learn(700, callback=callback)


if __name__ == "__main__":
    main()
