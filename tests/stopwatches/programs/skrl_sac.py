"""SAC of skrl on Pendulum: trains, evaluates, trains again."""

import gymnasium as gym
import torch
from skrl.agents.torch.sac import SAC, SAC_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
from skrl.trainers.torch import SequentialTrainer
from stopwatch import Stopwatch
from torch import nn


def network(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs)
    )


class Actor(GaussianMixin, Model):
    def __init__(self, **spaces):
        Model.__init__(self, **spaces)
        GaussianMixin.__init__(self, clip_actions=True)
        self.network = network(self.num_observations, self.num_actions)
        self.log_std = nn.Parameter(torch.zeros(self.num_actions))

    def compute(self, inputs, role):
        mean = 2 * torch.tanh(self.network(inputs["observations"]))
        return mean, {"log_std": self.log_std}


class Critic(DeterministicMixin, Model):
    def __init__(self, **spaces):
        Model.__init__(self, **spaces)
        DeterministicMixin.__init__(self)
        self.network = network(self.num_observations + self.num_actions, 1)

    def compute(self, inputs, role):
        both = torch.cat([inputs["observations"], inputs["taken_actions"]], dim=-1)
        return self.network(both), {}


def main():
    torch.manual_seed(1)
    env = wrap_env(gym.make_vec("Pendulum-v1", num_envs=4))
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    critics = ("critic_1", "critic_2", "target_critic_1", "target_critic_2")
    memory = RandomMemory(memory_size=5000, num_envs=env.num_envs, device=env.device)
    cfg = SAC_CFG()
    cfg.batch_size, cfg.learning_starts, cfg.random_timesteps = 128, 100, 100
    cfg.experiment.write_interval = cfg.experiment.checkpoint_interval = 0
    agent = SAC(
        models={"policy": Actor(**spaces), **{name: Critic(**spaces) for name in critics}},
        memory=memory,
        cfg=cfg,
        device=env.device,
        **spaces,
    )
    options = {"headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    trainer = SequentialTrainer(cfg={"timesteps": 600, **options}, env=env, agents=agent)

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", env, "step", "reset")
    stopwatch.wrap("inference", agent, "act")
    stopwatch.wrap("replay", memory, "add_samples", "sample")
    stopwatch.wrap("learning", agent, "update")
    stopwatch.wrap("evaluation", trainer, "eval")
    with stopwatch:
        for _ in range(2):
            trainer.train()
            trainer.eval()
        trainer.train()


if __name__ == "__main__":
    main()
