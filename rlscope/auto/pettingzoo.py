"""PettingZoo: environments of several agents."""

from types import ModuleType

from rlscope.auto.environments import watch_environments


def watch_env(module: ModuleType) -> None:
    """pettingzoo.utils.env."""
    for name in ("AECEnv", "ParallelEnv"):
        watch_environments(getattr(module, name))
