"""Parts of an update that a library makes in calls of its own: its batch, and target networks that
follow the trained ones."""

import contextlib
import functools
from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_below, watch_global
from rlscope.recorder import runtime

METHODS = {
    "skrl.models.torch.base": (("Model", "update_parameters"),),
    "torchrl.objectives.utils": (("TargetNetUpdater", "step"),),
}
"""Module -> its classes and their methods, with what classes below have in their place."""
_OF_TIANSHOU = (
    ("Algorithm", "_preprocess_batch"),
    ("LaggedNetworkAlgorithmMixin", "_update_lagged_network_weights"),
)


def watch(module: Any) -> None:
    """Any module of METHODS."""
    _watch_methods(module, METHODS[module.__name__])


def watch_tianshou(module: Any) -> None:
    """tianshou.algorithm.algorithm_base, which switches all modules of an algorithm to training and
    back, one by one."""
    _watch_methods(module, _OF_TIANSHOU)
    make = module.torch_train_mode
    switches = runtime.watch("update", lambda switch, *args: switch(*args))

    class Switched(contextlib.ContextDecorator):
        """The same block, whose entry and exit are parts of the update."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._given = args, kwargs
            self._block = make(*args, **kwargs)

        def _recreate_cm(self) -> "Switched":
            """Each call of a function that it decorates has a block of its own."""
            args, kwargs = self._given
            return Switched(*args, **kwargs)

        def __enter__(self) -> Any:
            return switches(self._block.__enter__)

        def __exit__(self, *exc: Any) -> Any:
            return switches(self._block.__exit__, *exc)

    module.torch_train_mode = functools.wraps(make)(
        lambda *args, **kwargs: Switched(*args, **kwargs)
    )
    rules.watches("update", f"{make.__module__}.{make.__qualname__}")


def watch_stable_baselines3(module: Any) -> None:
    """stable_baselines3.common.utils."""
    watch_global("update", module.polyak_update, module)
    rules.watches("update", "stable_baselines3.polyak_update")


def _watch_methods(module: Any, methods: tuple[tuple[str, str], ...]) -> None:
    for owner, name in methods:
        rules.watch_methods("update", getattr(module, owner), name, watch=watch_below)
