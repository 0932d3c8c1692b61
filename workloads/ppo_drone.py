"""PPO on a drone whose camera is rendered, which is nearly all the time: DroneDepth-v0.

    rls-prof python workloads/ppo_drone.py --total-timesteps 2000
    rls-prof python -m rlscope.workloads.ppo_drone --resolution 192 --obstacles 100

The algorithm is that of ppo_cartpole.py, the simulator is heavy_environment.py.
"""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from rlscope.workloads import heavy_environment, ppo_cartpole
from rlscope.workloads.arguments import Count, parse_args
from rlscope.workloads.torch_training import run_training


@dataclass
class Args(ppo_cartpole.Args):
    env_id: str = heavy_environment.ENV_ID
    """environment: this one, or what takes the same options"""
    total_timesteps: Count = 50_000
    """environment steps of the whole run, rounded up to whole iterations"""
    num_steps: Count = 32
    """steps of each environment in one iteration"""
    resolution: Count = 60
    """pixels of the rendered picture on each side, a multiple of 12"""
    obstacles: Count = 30
    """in the corridor"""
    gamma: float = 0.99
    """discount of future rewards"""
    gae_lambda: float = 0.95
    """weight of longer returns in the advantage"""
    ent_coef: float = 0.01
    """weight of the entropy bonus"""


class Trainer(ppo_cartpole.Trainer):
    """PPO in corridors of the size that is asked for."""

    args: Args

    def make_environments(self) -> Any:
        """Environments that begin anew in the step that ends an episode."""
        return gym.make_vec(
            self.args.env_id,
            self.args.num_envs,
            vectorization_mode="sync",
            vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP},
            resolution=self.args.resolution,
            obstacles=self.args.obstacles,
        )


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("PPO", parse_args(Args, "PPO on a rendered drone", argv), Trainer)


if __name__ == "__main__":
    main()
