"""TorchRL: its environments are modules that step on tensordicts.

Policies, losses and advantages are modules of PyTorch; collectors call both.
"""

from types import ModuleType

from rlscope.auto.environments import METHODS, watch_environments


def watch_env(module: ModuleType) -> None:
    """torchrl.envs.common."""
    watch_environments(module.EnvBase, (*METHODS, "step_and_maybe_reset"))
