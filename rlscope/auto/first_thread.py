"""The thread of a program that computes with NumPy, or with Python, alone. It makes no record by
itself, and stacks are read of threads that exist. What learns by trial draws at random."""

from typing import Any

from rlscope.recorder import runtime


def begin(module: Any) -> None:
    """numpy or random, which a thread of the program imports."""
    runtime.begin_thread()
