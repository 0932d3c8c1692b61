"""What the recorder does with CUPTI while PyTorch's own profiler profiles a GPU.

The first subscriber of CUPTI has it, and Kineto, the library under torch.profiler, asks once in
the life of a process. So with rls-prof --cupti=yield the recorder steps back before Kineto is asked
to prepare, and takes CUPTI again when it has stopped.

Without it, Kineto has what CUPTI gives it beside the recorder. Windows of GPU work (--gpu-share)
would end CUPTI for both: none begins or ends meanwhile.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from rlscope.recorder import runtime


def watch(profiler: ModuleType) -> None:
    """torch.autograd.profiler: all of PyTorch's profilers begin and end with its functions."""
    _call_around(profiler, runtime.pause_cuda, runtime.resume_cuda)


def watch_beside(profiler: ModuleType) -> None:
    """The same, where CUPTI is not left to it."""
    _call_around(profiler, lambda: runtime.keep_cupti(True), lambda: runtime.keep_cupti(False))


def _call_around(profiler: ModuleType, begin: Callable[[], None], end: Callable[[], None]) -> None:
    for name in ("_prepare_profiler", "_enable_profiler"):
        setattr(profiler, name, _after(begin, getattr(profiler, name)))
    profiler._disable_profiler = _before(end, profiler._disable_profiler)  # type: ignore[attr-defined]


def _after(begin: Callable[[], None], function: Callable[..., Any]) -> Callable[..., Any]:
    def call(config: Any, activities: Any, *rest: Any, **named: Any) -> Any:
        if any(getattr(activity, "name", "") == "CUDA" for activity in activities):
            begin()
        return function(config, activities, *rest, **named)

    return call


def _before(end: Callable[[], None], function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        finally:
            end()

    return call
