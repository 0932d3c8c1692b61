"""DQN on the Arcade Learning Environment's Pong with PyTorch, annotated for rlscope.

    rls-prof python workloads/dqn_pong.py --total-timesteps 5000
    rls-prof python -m rlscope.workloads.dqn_pong --env-id ALE/Breakout-v5 --device cuda

The algorithm is that of dqn_cartpole.py. Here is what pixels need: the last four frames as the
observation, the convolutional network of Mnih et al. 2015 (Nature 518, 529-533), an update every
fourth step. To learn Pong takes hours on a CPU; random actions lose by 20.
Needs the packages ale-py and opencv-python-headless.
"""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from rlscope.workloads import dqn_cartpole
from rlscope.workloads.arguments import Count, parse_args
from rlscope.workloads.atari import make_game, pixel_layers
from rlscope.workloads.torch_training import run_training


@dataclass
class Args(dqn_cartpole.Args):
    env_id: str = "ALE/Pong-v5"
    """environment: any of the Arcade Learning Environment"""
    total_timesteps: Count = 1_000_000
    """environment steps of the whole run, of four frames each, rounded up to whole iterations"""
    train_every: Count = 4
    """environment steps of one iteration, which has one update"""
    batch_size: Count = 32
    """transitions of one update"""
    learning_rate: float = 1e-4
    """of Adam"""
    target_every: Count = 250
    """updates between two copies of the network into the target network"""
    epsilon_end: float = 0.01
    """share of random actions in the end; it falls linearly from 1"""
    exploration_fraction: float = 0.1
    """part of the run in which the share of random actions falls"""


class PixelNetwork(nn.Module):  # type: ignore[misc]
    """The value of each action given four frames of 84 x 84 pixels, shape (batch, actions)."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*pixel_layers(), nn.Linear(512, actions))

    def forward(self, observation: Tensor) -> Tensor:
        """Values of a batch of observations, whose pixels are 0 to 255."""
        return self.layers(observation.float() / 255)


class Trainer(dqn_cartpole.Trainer):
    """DQN that sees pixels."""

    def make_environment(self) -> Any:
        """The game, which notes the return of each episode."""
        return make_game(self.args.env_id)

    def make_network(self) -> nn.Module:
        """A network with random weights."""
        return PixelNetwork(self.actions)


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("DQN", parse_args(Args, "DQN on Pong", argv), Trainer)


if __name__ == "__main__":
    main()
