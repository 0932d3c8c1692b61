"""Evaluations by the trainers of Tianshou, skrl, TorchRL and CleanRL.

Their environments, modules and optimizers are those of Gymnasium and PyTorch.
"""

from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_below, watch_global, watch_method


def watch_tianshou(module: Any) -> None:
    """tianshou.trainer: the episodes of a test step."""
    watch_method("evaluation", module.Trainer, "_collect_test_episodes")
    rules.watches("evaluation", "a test step of tianshou.Trainer")


def watch_tianshou_1(module: Any) -> None:
    """tianshou.trainer.utils, before 2.0."""
    watch_global("evaluation", module.test_episode, module)
    rules.watches("evaluation", "tianshou.test_episode")


def watch_skrl(module: Any) -> None:
    """skrl.trainers.*.base."""
    rules.watch_methods("evaluation", module.Trainer, "eval", watch=watch_below)


def watch_torchrl(module: Any) -> None:
    """torchrl.trainers.trainers: the hook that evaluates a policy, each so many batches."""
    watch_method("evaluation", module.LogValidationReward, "__call__")
    rules.watches("evaluation", "torchrl.LogValidationReward")


def watch_cleanrl(module: Any) -> None:
    """cleanrl_utils.evals.*: a module for each kind of agent."""
    watch_global("evaluation", module.evaluate, module)
    rules.watches("evaluation", "cleanrl_utils.evals.evaluate")
