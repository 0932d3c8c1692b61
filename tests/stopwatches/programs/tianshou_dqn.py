"""Deep Q-learning of Tianshou on CartPole: prioritised replay, test episodes after each epoch."""

import gymnasium as gym
import torch
from stopwatch import Stopwatch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, PrioritizedVectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net


def vector(environments):
    return DummyVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(environments)])


def main():
    torch.manual_seed(1)
    train_envs, test_envs = vector(4), vector(4)
    env = gym.make("CartPole-v1")
    net = Net(state_shape=env.observation_space.shape, action_shape=2, hidden_sizes=[64, 64])
    policy = DiscreteQLearningPolicy(
        model=net, action_space=env.action_space, eps_training=0.1, eps_inference=0.0
    )
    algorithm = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        target_update_freq=200,
        n_step_return_horizon=3,
    )
    buffer = PrioritizedVectorReplayBuffer(20_000, buffer_num=4, alpha=0.6, beta=0.4)
    collector = Collector(algorithm, train_envs, buffer, exploration_noise=True)
    tests = Collector(algorithm, test_envs)

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", train_envs, "step", "reset")
    stopwatch.wrap("inference", collector, "_compute_action_policy_hidden")
    stopwatch.wrap("replay", buffer, "add", "sample", "update_weight", "hasnull")
    stopwatch.wrap("learning", algorithm, "update")
    stopwatch.wrap("evaluation", tests, "collect")
    with stopwatch:
        algorithm.run_training(
            OffPolicyTrainerParams(
                training_collector=collector,
                test_collector=tests,
                max_epochs=3,
                epoch_num_steps=800,
                collection_step_num_env_steps=8,
                update_step_num_gradient_steps_per_sample=0.25,
                test_step_num_episodes=8,
                batch_size=64,
                show_progress=False,
                verbose=False,
            )
        )


if __name__ == "__main__":
    main()
