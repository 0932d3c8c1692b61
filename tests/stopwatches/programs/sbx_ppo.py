"""PPO of SBX, which is JAX, on a vector of CartPoles."""

import jax
from sbx import PPO
from stable_baselines3.common.env_util import make_vec_env
from stopwatch import Stopwatch


def main():
    model = PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", n_envs=4, seed=1),
        n_steps=256,
        batch_size=64,
        n_epochs=10,
        seed=1,
    )

    stopwatch = Stopwatch()
    stopwatch.watch_jax()
    stopwatch.wrap("simulation", model.env, "step", "reset")
    stopwatch.wrap("inference", model.policy, "prepare_obs", "reset_noise")
    stopwatch.wrap("inference", model.policy, "predict_all", then=jax.block_until_ready)
    stopwatch.wrap("replay", model.rollout_buffer, "add")
    stopwatch.wrap_generator("replay", model.rollout_buffer, "get")
    stopwatch.wrap("learning", model, "train")
    stopwatch.wrap("learning", model.rollout_buffer, "compute_returns_and_advantage")
    with stopwatch:
        model.learn(16 * 1024)


if __name__ == "__main__":
    main()
