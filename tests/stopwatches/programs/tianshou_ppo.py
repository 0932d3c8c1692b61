"""PPO of Tianshou on Pendulum, with test episodes after each epoch."""

import gymnasium as gym
import torch
from stopwatch import Stopwatch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.continuous import ContinuousActorProbabilistic, ContinuousCritic
from torch.distributions import Independent, Normal


def vector(environments):
    return DummyVectorEnv([lambda: gym.make("Pendulum-v1") for _ in range(environments)])


def main():
    torch.manual_seed(1)
    train_envs, test_envs = vector(8), vector(2)
    env = gym.make("Pendulum-v1")
    shapes = env.observation_space.shape, env.action_space.shape
    actor = ContinuousActorProbabilistic(
        preprocess_net=Net(state_shape=shapes[0], hidden_sizes=[64, 64]), action_shape=shapes[1]
    )
    critic = ContinuousCritic(preprocess_net=Net(state_shape=shapes[0], hidden_sizes=[64, 64]))
    policy = ProbabilisticActorPolicy(
        actor=actor,
        dist_fn=lambda parameters: Independent(Normal(*parameters), 1),
        action_space=env.action_space,
    )
    algorithm = PPO(
        policy=policy,
        critic=critic,
        optim=AdamOptimizerFactory(lr=3e-4),
        recompute_advantage=True,
    )
    buffer = VectorReplayBuffer(8 * 64, buffer_num=8)
    collector, tests = Collector(algorithm, train_envs, buffer), Collector(algorithm, test_envs)

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", train_envs, "step", "reset")
    stopwatch.wrap("inference", collector, "_compute_action_policy_hidden")
    stopwatch.wrap("replay", buffer, "add", "sample", "hasnull")
    stopwatch.wrap("learning", algorithm, "update")
    stopwatch.wrap("evaluation", tests, "collect")
    with stopwatch:
        algorithm.run_training(
            OnPolicyTrainerParams(
                training_collector=collector,
                test_collector=tests,
                max_epochs=6,
                epoch_num_steps=8 * 512,
                collection_step_num_env_steps=512,
                update_step_num_repetitions=4,
                test_step_num_episodes=2,
                batch_size=64,
                show_progress=False,
                verbose=False,
            )
        )


if __name__ == "__main__":
    main()
