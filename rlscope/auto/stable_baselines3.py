"""Stable-Baselines3: its vectors of environments are neither Env nor VectorEnv.

Policies are modules of PyTorch, and optimizers PyTorch's.
"""

from types import ModuleType

from rlscope.auto.environments import watch_environments


def watch_vec_env(module: ModuleType) -> None:
    """stable_baselines3.common.vec_env.base_vec_env."""
    watch_environments(module.VecEnv)
