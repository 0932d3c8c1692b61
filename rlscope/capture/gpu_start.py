"""Begins windows of GPU work in processes that use CUDA: most do not, and import nothing for it."""

from rlscope.recorder import runtime


def begin() -> None:
    """The first iteration that finds CUDA does it."""
    runtime.follow_iterations(_look)


def _look() -> None:
    if not runtime.has_cuda():
        return
    from rlscope.capture import gpu_windows

    gpu_windows.begin()
