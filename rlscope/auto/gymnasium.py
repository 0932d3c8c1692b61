"""Gymnasium, and gym 0.26 which has the same classes: environments, wrappers, vectors of them.

EnvPool's classes are environments of Gymnasium.
"""

from types import ModuleType

from rlscope.auto.calls import watch_below
from rlscope.auto.environments import METHODS, watch_environments

_ENVPOOL_METHODS = ("async_reset", "send", "recv")


def watch_core(module: ModuleType) -> None:
    """gymnasium.core, gym.core."""
    watch_environments(module.Env, METHODS + _ENVPOOL_METHODS)


def watch_space(module: ModuleType) -> None:
    """gymnasium.spaces.space, gym.spaces.space: a random action is a sample of a space."""
    watch_below("choice", module.Space, "sample")


def watch_vector(module: ModuleType) -> None:
    """gymnasium.vector.vector_env: its VectorEnv is no Env since Gymnasium 1.0."""
    watch_environments(module.VectorEnv)
