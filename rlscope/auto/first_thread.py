"""The thread of a program that computes with NumPy, or with Python, alone. It makes no record by
itself, and stacks are read of threads that exist. What learns by trial draws at random."""

import sys
from typing import Any

from rlscope.recorder import runtime


def begin(module: Any) -> None:
    """A thread of the program imports numpy or random. If the program is another rls-prof, nothing
    of itself is recorded."""
    if "rlscope.commands" not in sys.modules:
        runtime.begin_thread()
