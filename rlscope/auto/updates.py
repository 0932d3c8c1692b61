"""Parts of an update that a library makes in calls of its own: its batch, and target networks that
follow the trained ones."""

from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_below, watch_global

METHODS = {
    "tianshou.algorithm.algorithm_base": (
        ("Algorithm", "_preprocess_batch"),
        ("LaggedNetworkAlgorithmMixin", "_update_lagged_network_weights"),
    ),
    "skrl.models.torch.base": (("Model", "update_parameters"),),
    "torchrl.objectives.utils": (("TargetNetUpdater", "step"),),
}
"""Module -> its classes and their methods, with what classes below have in their place."""


def watch(module: Any) -> None:
    """Any module of METHODS."""
    for owner, name in METHODS[module.__name__]:
        rules.watch_methods("update", getattr(module, owner), name, watch=watch_below)


def watch_stable_baselines3(module: Any) -> None:
    """stable_baselines3.common.utils."""
    watch_global("update", module.polyak_update, module)
    rules.watches("update", "stable_baselines3.polyak_update")
