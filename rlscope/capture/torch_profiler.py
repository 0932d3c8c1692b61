"""Leaves CUPTI to PyTorch's own profiler while it profiles a GPU (rls-prof --cupti=yield).

The first subscriber of CUPTI has it, and Kineto, the library under torch.profiler, asks once in
the life of a process. So the recorder steps back before Kineto is asked to prepare, and takes CUPTI
again when it has stopped.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from rlscope.recorder import runtime


def watch(profiler: ModuleType) -> None:
    """torch.autograd.profiler: all of PyTorch's profilers begin and end with its functions."""
    for name in ("_prepare_profiler", "_enable_profiler"):
        setattr(profiler, name, _after_pause(getattr(profiler, name)))
    profiler._disable_profiler = _before_resume(profiler._disable_profiler)  # type: ignore[attr-defined]


def _after_pause(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(config: Any, activities: Any, *rest: Any, **named: Any) -> Any:
        if any(getattr(activity, "name", "") == "CUDA" for activity in activities):
            runtime.pause_cuda()
        return function(config, activities, *rest, **named)

    return call


def _before_resume(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        finally:
            runtime.resume_cuda()

    return call
