"""PPO of skrl on a vector of CartPoles, with skrl's sequential trainer."""

import gymnasium as gym
import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from stopwatch import Stopwatch
from torch import nn

ROLLOUTS = 128


def network(size, outputs):
    return nn.Sequential(nn.Linear(size, 64), nn.ELU(), nn.Linear(64, outputs))


class Actor(CategoricalMixin, Model):
    def __init__(self, observation_space, action_space):
        Model.__init__(self, observation_space=observation_space, action_space=action_space)
        CategoricalMixin.__init__(self)
        self.network = network(self.num_observations, self.num_actions)

    def compute(self, inputs, role):
        return self.network(inputs["observations"]), {}


class Critic(DeterministicMixin, Model):
    def __init__(self, observation_space, action_space):
        Model.__init__(self, observation_space=observation_space, action_space=action_space)
        DeterministicMixin.__init__(self)
        self.network = network(self.num_observations, 1)

    def compute(self, inputs, role):
        return self.network(inputs["observations"]), {}


def main():
    torch.manual_seed(1)
    env = wrap_env(gym.make_vec("CartPole-v1", num_envs=4))
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    memory = RandomMemory(memory_size=ROLLOUTS, num_envs=env.num_envs, device=env.device)
    cfg = PPO_CFG()
    cfg.rollouts, cfg.learning_epochs, cfg.mini_batches = ROLLOUTS, 4, 4
    cfg.experiment.write_interval = cfg.experiment.checkpoint_interval = 0
    agent = PPO(
        models={"policy": Actor(**spaces), "value": Critic(**spaces)},
        memory=memory,
        cfg=cfg,
        device=env.device,
        **spaces,
    )
    trainer = SequentialTrainer(
        cfg={"timesteps": 6000, "headless": True, "disable_progressbar": True},
        env=env,
        agents=agent,
    )

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", env, "step", "reset")
    stopwatch.wrap("inference", agent, "act")
    stopwatch.wrap("replay", memory, "add_samples", "sample_all")
    stopwatch.wrap("learning", agent, "update")
    with stopwatch:
        trainer.train()


if __name__ == "__main__":
    main()
