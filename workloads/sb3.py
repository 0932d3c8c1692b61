"""Stable-Baselines3 as its users run it: not a line of this file annotates anything.

    rls-prof python workloads/sb3.py --algorithm PPO
    rls-prof python -m rlscope.workloads.sb3 --algorithm SAC --env-id Hopper-v5

PPO, A2C, DQN, SAC, DDPG and TD3, with the hyper-parameters with which they learn CartPole-v1 and
Pendulum-v1 in minutes; other environments get the library's own. rlscope finds operations and
iterations by itself. Needs the package stable-baselines3.
"""

import math
import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete

from rlscope.workloads.arguments import Count, Device, parse_args
from rlscope.workloads.environments import in_one_line, require


@dataclass
class Args:
    seed: int = 1
    """seed of every random number generator"""
    algorithm: Literal["PPO", "A2C", "DQN", "SAC", "DDPG", "TD3"] = "PPO"
    """class of the library"""
    env_id: str = ""
    """environment; if it is empty, CartPole-v1 or, of SAC, DDPG and TD3, Pendulum-v1"""
    total_timesteps: int = 0
    """environment steps of the whole run; 0: as many as the algorithm needs for its environment"""
    num_envs: int = 0
    """environments that step together; 0: 8 of PPO and A2C, 1 of the others"""
    vector: Literal["dummy", "subproc"] = "dummy"
    """whether they step in this process or each in one of its own"""
    exploration_fraction: float = 0.16
    """of DQN: part of the run in which it acts at random less and less often"""
    device: Device = "cpu"
    """where the networks are: cpu, cuda, ...; networks this small are faster on a CPU"""
    torch_threads: Count = 1
    """threads of PyTorch; networks this small are slower with more"""
    verbose: int = 0
    """1 prints the library's tables"""


_CARTPOLE = "CartPole-v1"
_PENDULUM = "Pendulum-v1"
_ENVIRONMENT = {
    "PPO": _CARTPOLE,
    "A2C": _CARTPOLE,
    "DQN": _CARTPOLE,
    "SAC": _PENDULUM,
    "DDPG": _PENDULUM,
    "TD3": _PENDULUM,
}
_STEPS = {
    "PPO": 80_000,
    "A2C": 200_000,
    "DQN": 50_000,
    "SAC": 8_000,
    "DDPG": 8_000,
    "TD3": 8_000,
}
_SEVERAL = ("PPO", "A2C")
_ACTIONS = {"DQN": Discrete, "SAC": Box, "DDPG": Box, "TD3": Box}
"""What an algorithm can choose from; the others from both."""
_SMALL = {"net_arch": [128, 128]}
_OFF_POLICY = {"learning_starts": 128, "learning_rate": 1e-3, "policy_kwargs": _SMALL}
_HYPERPARAMETERS: dict[str, dict[str, Any]] = {
    "PPO": {"n_steps": 32, "batch_size": 256, "n_epochs": 20, "gae_lambda": 0.8, "gamma": 0.98},
    "A2C": {"n_steps": 8, "gamma": 0.98},
    "DQN": {
        "learning_rate": 2.3e-3,
        "batch_size": 64,
        "buffer_size": 100_000,
        "learning_starts": 1_000,
        "target_update_interval": 10,
        "train_freq": 256,
        "gradient_steps": 128,
        "exploration_final_eps": 0.04,
        "policy_kwargs": {"net_arch": [256, 256]},
    },
    "SAC": {**_OFF_POLICY, "batch_size": 128},
    "DDPG": {**_OFF_POLICY, "batch_size": 128, "gradient_steps": 1, "train_freq": 1},
    "TD3": {**_OFF_POLICY, "batch_size": 128, "gradient_steps": 1, "train_freq": 1},
}
"""For the algorithm's own environment."""


class Trainer:
    """One training run; `train` is the library's loop."""

    def __init__(self, args: Args) -> None:
        self.args = args
        env_id = args.env_id or _ENVIRONMENT[args.algorithm]
        with in_one_line(env_id):
            algorithm = _algorithm(args.algorithm)
            envs = self.make_environments(env_id)
            require("observations", envs.observation_space, Box)
            if args.algorithm in _ACTIONS:
                require("actions", envs.action_space, _ACTIONS[args.algorithm])
        own = env_id == _ENVIRONMENT[args.algorithm]
        self.model: Any = algorithm(
            "MlpPolicy",
            envs,
            seed=args.seed,
            device=args.device,
            verbose=args.verbose,
            **(_HYPERPARAMETERS[args.algorithm] if own else {}),
            **self.exploration(envs.action_space),
        )

    def exploration(self, actions: Any) -> dict[str, Any]:
        """How the algorithm explores, where that is an argument."""
        if self.args.algorithm in ("DDPG", "TD3"):
            return _noise(actions)
        if self.args.algorithm == "DQN":
            return {"exploration_fraction": self.args.exploration_fraction}
        return {}

    def make_environments(self, env_id: str) -> Any:
        """Several environments, which note the return of each episode."""
        from stable_baselines3.common.env_util import make_vec_env
        from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

        args = self.args
        count = args.num_envs or (8 if args.algorithm in _SEVERAL else 1)
        vector = SubprocVecEnv if args.vector == "subproc" else DummyVecEnv
        return make_vec_env(env_id, count, seed=args.seed, vec_env_cls=vector)

    def train(self) -> None:
        """Learns, and ends the environments."""
        steps = self.args.total_timesteps or _STEPS[self.args.algorithm]
        self.model.learn(steps)
        self.model.get_env().close()

    @property
    def returns(self) -> list[float]:
        """The returns of the last 20 episodes."""
        return [float(episode["r"]) for episode in self.model.ep_info_buffer][-20:]


def _algorithm(name: str) -> Any:
    """A class of the library."""
    try:
        import stable_baselines3
    except ImportError as error:
        raise ImportError(f"{error}: pip install stable-baselines3") from None
    return getattr(stable_baselines3, name)


def _noise(actions: Box) -> dict[str, Any]:
    """What DDPG and TD3 explore with, which the library leaves to its user."""
    from stable_baselines3.common.noise import NormalActionNoise

    size = math.prod(actions.shape)
    return {"action_noise": NormalActionNoise(np.zeros(size), np.full(size, 0.1))}


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    args = parse_args(Args, "Stable-Baselines3", argv)
    torch.set_num_threads(args.torch_threads)
    trainer = Trainer(args)
    start = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - start
    mean = np.mean(trainer.returns) if trainer.returns else float("nan")
    print(f"trained in {seconds:.1f} s; mean return of the last 20 episodes {mean:.1f}")


if __name__ == "__main__":
    main()
