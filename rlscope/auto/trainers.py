"""Evaluations by Tianshou, skrl, TorchRL, CleanRL, OpenSpiel and Transformers, and the checkpoints
of the last.

Their modules and optimizers are PyTorch's.
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


def watch_open_spiel(module: Any) -> None:
    """open_spiel.python.algorithms.exploitability: how far policies are from an equilibrium."""
    for name in ("exploitability", "nash_conv"):
        watch_global("evaluation", getattr(module, name), module)
        rules.watches("evaluation", f"open_spiel.{name}")


def watch_transformers(module: Any) -> None:
    """transformers.trainer: with what TRL's trainers have in the place of its methods."""
    for event, name in (
        ("evaluation", "evaluate"),
        ("saving", "_save_checkpoint"),
        ("saving", "save_model"),
        ("loading", "_load_from_checkpoint"),
    ):
        rules.watch_methods(event, module.Trainer, name, watch=watch_below)


def watch_pretrained(module: Any) -> None:
    """transformers.modeling_utils."""
    for event, name in (("saving", "save_pretrained"), ("loading", "from_pretrained")):
        rules.watch_methods(event, module.PreTrainedModel, name, watch=watch_below)
