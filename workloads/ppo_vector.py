"""PPO whose environments step in this process, in worker processes or in EnvPool's threads.

    rls-prof python workloads/ppo_vector.py --vector async --num-envs 4
    rls-prof python -m rlscope.workloads.ppo_vector --vector envpool --env-id Acrobot-v1

The algorithm is that of ppo_cartpole.py; what differs is who steps the environments: Gymnasium's
SyncVectorEnv and AsyncVectorEnv, or EnvPool, whose environments are in C++ (package envpool).
"""

from dataclasses import dataclass
from typing import Any, Literal

import gymnasium as gym
import numpy as np

from rlscope.workloads import ppo_cartpole
from rlscope.workloads.arguments import parse_args
from rlscope.workloads.torch_training import run_training


@dataclass
class Args(ppo_cartpole.Args):
    vector: Literal["sync", "async", "envpool"] = "async"
    """who steps the environments: this process, a process for each, threads of EnvPool"""


class EnvPool:
    """Environments of EnvPool that begin anew in the step that ends an episode.

    By themselves they do so in the step after it, whose action is then ignored.
    """

    def __init__(self, env_id: str, num_envs: int, seed: int) -> None:
        try:
            import envpool
        except ImportError as error:
            raise ImportError(f"{error}: pip install envpool") from None
        if env_id not in envpool.list_all_envs():
            raise gym.error.Error("not an environment of EnvPool")
        self.pool = envpool.make_gymnasium(env_id, num_envs=num_envs, seed=seed)
        self.single_observation_space = self.pool.single_observation_space
        self.single_action_space = self.pool.single_action_space

    def reset(self, *, seed: int) -> tuple[Any, Any]:
        """First observations; the seed is given to the constructor instead."""
        observation, info = self.pool.reset()
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, Any]:
        """As of Gymnasium's vectors: what an episode ended with is in "final_obs"."""
        observation, reward, terminated, truncated, info = self.pool.step(action)
        done = terminated | truncated
        if done.any():
            ended = np.flatnonzero(done)
            final = np.full(len(done), None)
            for index in ended:
                final[index] = observation[index]
            first, _ = self.pool.reset(ended.astype(np.int32))
            observation = observation.copy()
            observation[ended] = first
            info = {**info, "final_obs": final}
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Ends its threads."""
        self.pool.close()


class Trainer(ppo_cartpole.Trainer):
    """PPO with the vector of environments that is asked for."""

    args: Args

    def make_environments(self) -> Any:
        """Environments that begin anew in the step that ends an episode."""
        args = self.args
        if args.vector == "envpool":
            return EnvPool(args.env_id, args.num_envs, args.seed)
        return gym.make_vec(
            args.env_id,
            args.num_envs,
            vectorization_mode=args.vector,
            vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP},
        )

    def train(self) -> None:
        """Runs all iterations, and ends the environments' processes and threads."""
        super().train()
        self.envs.close()


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    run_training("PPO", parse_args(Args, "PPO on vectors of environments", argv), Trainer)


if __name__ == "__main__":
    main()
