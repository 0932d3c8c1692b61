"""pickle: a program's own checkpoints, such as of a table or of a replay buffer. Processes that
multiprocessing spawns read what they begin with by `pickle.load`, so that is none."""

import sys
from typing import Any

from rlscope.auto import rules
from rlscope.auto.calls import watch_global


def watch(module: Any) -> None:
    """pickle."""
    # The function says that it is of _pickle: whoever pickles it looks there for the same one.
    watch_global("saving", module.dump, module, sys.modules.get("_pickle", module))
    rules.watches("saving", "pickle.dump")
