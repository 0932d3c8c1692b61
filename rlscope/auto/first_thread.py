"""The thread of a program that computes with NumPy alone. It makes no record by itself, and stacks
are read of threads that exist."""

from typing import Any

from rlscope.recorder import runtime


def begin(module: Any) -> None:
    """numpy, which a thread of the program imports."""
    runtime.begin_thread()
