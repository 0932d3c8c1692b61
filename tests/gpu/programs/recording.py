"""Switches what is recorded of this process, on and off, while it runs: to compare in one process.

Needs the recorder, which rls-prof preloads; without it only `none` and `kineto` can be had.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import rlscope as rls
from rlscope.recorder import runtime

PARTS, GRAPHS = "RLSCOPE_CUDA_PARTS", "RLSCOPE_CUDA_GRAPH_TRACE"


def _begin(parts: str, graphs: str = "graph") -> Callable[[], None]:
    def begin() -> None:
        runtime.pause_cuda()
        os.environ[PARTS], os.environ[GRAPHS] = parts, graphs
        runtime.resume_cuda()
        rls.start()

    return begin


def _close() -> None:
    _begin("all")()
    rls.stop()


def _begin_without_cuda() -> None:
    runtime.pause_cuda()
    rls.start()


WAYS: dict[str, Callable[[], None]] = {
    "callbacks": _begin("calls"),
    "activities": _begin("work"),
    "both": _begin("all"),
    "node": _begin("all", "node"),
    "closed": _close,
    "without-cuda": _begin_without_cuda,
}
"""CUPTI's callbacks, its activities, both, both with the kernels of graphs; both outside of a
window; and all that is recorded of a program but CUDA. Native calls and annotations are recorded in
each but `closed`."""


@contextlib.contextmanager
def recorded(way: str) -> Iterator[None]:
    """`none` before and after: CUPTI has been left, and no window is open. `plain`: as it is."""
    if way in ("none", "plain"):
        yield
    elif way == "kineto":
        with _kineto():
            yield
    else:
        WAYS[way]()
        try:
            yield
        finally:
            leave()


def leave() -> None:
    """Nothing is recorded from here on."""
    runtime.pause_cuda()
    rls.stop()


def _kineto() -> Any:
    """PyTorch's profiler, of the GPU alone."""
    import torch

    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
