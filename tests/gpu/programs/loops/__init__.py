"""Training and sampling loops, whose cost of being recorded is measured: one iteration a call.

Nothing here knows of a recorder: each process that measures runs the same loop.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

Iterate = Callable[[], None]

# Modules are imported when their loop is made: most need PyTorch.
LOOPS = {
    "launches": "loops.launches",
    "dqn": "loops.deep_q",
    "sac": "loops.soft_actor_critic",
    "ppo-vector": "loops.proximal_vector",
    "ppo-pixels": "loops.proximal_pixels",
    "sampling": "loops.sampling",
    "sampling-cached": "loops.sampling_cached",
}


def make(name: str) -> Iterate:
    """The loop of this name, ready on the GPU: a call runs one iteration."""
    module = importlib.import_module(LOOPS[name])
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # others would spin beside what is measured
    iterate: Iterate = module.make()
    return iterate
