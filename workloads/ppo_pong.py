"""PPO on the Arcade Learning Environment's Pong with PyTorch, annotated for rlscope.

    rls-prof python workloads/ppo_pong.py --total-timesteps 5000
    rls-prof python -m rlscope.workloads.ppo_pong --env-id ALE/Breakout-v5 --device cuda

The algorithm is that of ppo_cartpole.py. Here is what pixels need: the last four frames as the
observation, one convolutional network for policy and value, and the hyper-parameters of Schulman
et al. 2017 (arXiv:1707.06347, table 5), but for the weight of the value loss. To learn Pong takes
hours on a CPU; random actions lose by 20. Needs the packages ale-py and opencv-python-headless.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from torch import Tensor, nn

from rlscope.workloads import ppo_cartpole
from rlscope.workloads.arguments import Count, parse_args
from rlscope.workloads.atari import make_game, pixel_layers
from rlscope.workloads.ppo_cartpole import layer
from rlscope.workloads.torch_training import run_training


@dataclass
class Args(ppo_cartpole.Args):
    env_id: str = "ALE/Pong-v5"
    """environment: any of the Arcade Learning Environment"""
    total_timesteps: Count = 10_000_000
    """environment steps of the whole run, of four frames each, rounded up to whole iterations"""
    learning_rate: float = 2.5e-4
    """of Adam at the start; falls linearly to 0"""
    gamma: float = 0.99
    """discount of future rewards"""
    gae_lambda: float = 0.95
    """weight of longer returns in the advantage"""
    update_epochs: Count = 3
    """passes over each rollout"""
    clip_coef: float = 0.1
    """how far a policy may move from the one that collected"""
    ent_coef: float = 0.01
    """weight of the entropy bonus"""

    def __post_init__(self) -> None:
        """A run that is shorter than a rollout has a shorter one, and is not rounded up to it."""
        self.num_steps = min(self.num_steps, math.ceil(self.total_timesteps / self.num_envs))


class PixelAgent(nn.Module):  # type: ignore[misc]
    """Policy and value function: two layers on top of one network."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*pixel_layers())
        for each in self.layers:
            if isinstance(each, nn.Conv2d | nn.Linear):
                nn.init.orthogonal_(each.weight, 2**0.5)
                nn.init.zeros_(each.bias)
        self.actor = layer(512, actions, 0.01)
        self.critic = layer(512, 1, 1.0)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the actions, shape (batch, actions), and values, shape (batch,)."""
        seen = self.layers(observation.float() / 255)
        return self.actor(seen), self.critic(seen).squeeze(-1)

    def value(self, observation: Tensor) -> Tensor:
        """Expected return of each observation, shape (batch,)."""
        return self.critic(self.layers(observation.float() / 255)).squeeze(-1)


class Trainer(ppo_cartpole.Trainer):
    """PPO that sees pixels."""

    def make_environments(self) -> Any:
        """Games that begin anew in the step that ends one."""
        game = functools.partial(make_game, self.args.env_id)
        return gym.vector.SyncVectorEnv(
            [game] * self.args.num_envs, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP
        )

    def make_agent(self) -> nn.Module:
        """Policy and value function with random weights."""
        return PixelAgent(int(self.envs.single_action_space.n))

    def _note_returns(self, _reward: Any, done: Any, info: Any) -> None:
        """What the games noted before rewards were clipped."""
        if done.any():
            self.returns += info["final_info"]["episode"]["r"][done].tolist()


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("PPO", parse_args(Args, "PPO on Pong", argv), Trainer)


if __name__ == "__main__":
    main()
