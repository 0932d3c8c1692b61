"""APPO of Sample Factory on CartPole, all in one process (serial_mode)."""

import sys
import tempfile

import gymnasium as gym
from sample_factory.algo.learning.learner import Learner
from sample_factory.algo.sampling.inference_worker import InferenceWorker
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.train import make_runner
from stopwatch import Stopwatch

stopwatch = Stopwatch()


def make_env(name, cfg, env_config, render_mode=None):
    env = gym.make("CartPole-v1", render_mode=render_mode)
    stopwatch.wrap("simulation", env, "step", "reset")
    return env


def main():
    register_env("cart_pole", make_env)
    with tempfile.TemporaryDirectory() as folder:
        sys.argv[1:] = [
            *("--env=cart_pole", "--serial_mode=True", "--async_rl=False", "--device=cpu"),
            *("--num_workers=1", "--num_envs_per_worker=4", "--worker_num_splits=1"),
            *("--rollout=32", "--batch_size=512", "--num_epochs=4", "--use_rnn=False"),
            *("--train_for_env_steps=20000", f"--train_dir={folder}", "--normalize_input=False"),
            *("--encoder_mlp_layers", "64", "64", "--save_every_sec=1000"),
        ]
        parser, _ = parse_sf_args()
        _, runner = make_runner(parse_full_cfg(parser))
        runner.init()

        stopwatch.wrap("inference", InferenceWorker, "_handle_policy_steps")
        stopwatch.wrap("learning", Learner, "train")
        with stopwatch:
            runner.run()


if __name__ == "__main__":
    main()
