"""pickle: a program's own checkpoints, such as of a table or of a replay buffer. Processes that
multiprocessing spawns read what they begin with by `pickle.load`, so that is none."""

from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_global


def watch(module: Any) -> None:
    """pickle."""
    watch_global("saving", module.dump, module)
    rules.watches("saving", "pickle.dump")
