"""pickle: a program's own checkpoints, such as of a table or of a replay buffer."""

from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_global


def watch(module: Any) -> None:
    """pickle."""
    for event, name in (("saving", "dump"), ("loading", "load")):
        watch_global(event, getattr(module, name), module)
        rules.watches(event, f"pickle.{name}")
