"""rlscope: where does the training time of a reinforcement learning program go, and why?

    import rlscope as rls

    with rls.operation("inference"):
        action = policy(observation)

Run the program with `rls-prof python train.py`, or record a block with `rls.profile(directory)`.
In a process that is not recorded every annotation is a cheap no-op.
"""

import os

from rlscope._version import __version__ as __version__
from rlscope.annotations.annotate import (
    end_operation,
    iteration,
    layer,
    metadata,
    operation,
    phase,
    process,
    progress,
    set_operation,
    start,
    stop,
)
from rlscope.errors import RlscopeError
from rlscope.lazy import TYPE_CHECKING, LazyModule, environment, load, load_many, profile

if TYPE_CHECKING:
    from rlscope import analysis
else:
    analysis = LazyModule("rlscope.analysis")

__all__ = [
    "RlscopeError",
    "analysis",
    "end_operation",
    "environment",
    "iteration",
    "layer",
    "load",
    "load_many",
    "metadata",
    "operation",
    "phase",
    "process",
    "profile",
    "progress",
    "set_operation",
    "start",
    "stop",
]

# Where the line of rlscope.pth did not run: with -S, or from a folder on PYTHONPATH. By name: the
# contracts of rooms are about what stands here.
if "RLSCOPE_DIR" in os.environ:
    try:
        __import__("rlscope.capture.bootstrap")
    except Exception:
        pass
