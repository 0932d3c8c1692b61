"""Recurrent PPO of sb3-contrib on CartPole."""

from sb3_contrib import RecurrentPPO
from stable_baselines3.common.env_util import make_vec_env
from stopwatch import Stopwatch


def main():
    model = RecurrentPPO(
        "MlpLstmPolicy",
        make_vec_env("CartPole-v1", n_envs=4, seed=1),
        n_steps=64,
        batch_size=128,
        n_epochs=2,
        policy_kwargs={"lstm_hidden_size": 32},
        seed=1,
    )

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", model.env, "step", "reset")
    stopwatch.wrap("inference", model.policy, "forward")
    stopwatch.wrap("replay", model.rollout_buffer, "add")
    stopwatch.wrap_generator("replay", model.rollout_buffer, "get")
    stopwatch.wrap("learning", model, "train")
    stopwatch.wrap("learning", model.policy, "predict_values")
    stopwatch.wrap("learning", model.rollout_buffer, "compute_returns_and_advantage")
    with stopwatch:
        model.learn(22 * 256)


if __name__ == "__main__":
    main()
