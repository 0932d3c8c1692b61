"""PPO of OpenSpiel on a vector of games of catch."""

import random

import numpy as np
import torch
from open_spiel.python import rl_environment
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.vector_env import SyncVectorEnv
from stopwatch import Stopwatch

ENVS, STEPS, UPDATES = 8, 64, 30


def main():
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    envs = SyncVectorEnv([rl_environment.Environment("catch") for _ in range(ENVS)])
    agent = PPO(
        input_shape=envs.observation_spec()["info_state"],
        num_actions=envs.envs[0].action_spec()["num_actions"],
        num_players=1,
        num_envs=ENVS,
        steps_per_batch=STEPS,
        agent_fn=PPOAgent,
    )

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", envs, "step", "reset")
    stopwatch.wrap("inference", agent, "step")
    stopwatch.wrap("learning", agent, "learn")
    with stopwatch:
        time_step = envs.reset()
        for _ in range(UPDATES):
            for _ in range(STEPS):
                output = agent.step(time_step)
                time_step, reward, done, _ = envs.step(output, reset_if_done=True)
                agent.post_step(reward, done)
            agent.learn(time_step)


if __name__ == "__main__":
    main()
