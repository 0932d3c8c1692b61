"""Ray, in programs and in their workers.

A worker is all its life in one call of Ray, in which it waits for tasks (rlscope/waits/ray.py).
While it runs one, or loads what it will run, it is in Python.
"""

import sys

from rlscope.capture import ray_cluster
from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

_TITLE = "_changeproctitle"
_LOADING = ("load_actor_class", "get_execution_info", "fetch_registered_method")


def watch(worker: "ModuleType") -> None:
    """ray._private.worker."""
    ray_cluster.watch(worker)
    manager: Any = sys.modules["ray._private.function_manager"]
    owner = manager.FunctionActorManager
    marked = _in_python if hasattr(worker, _TITLE) else _python_from_here
    for name in _LOADING:
        if name in vars(owner):
            setattr(owner, name, marked(vars(owner)[name]))
    if hasattr(worker, _TITLE):
        _watch_tasks(worker)


def _watch_tasks(worker: "Any") -> None:
    """Around each task, its arguments and its result, Ray changes the title of the process."""
    from contextlib import contextmanager
    from functools import wraps

    original = worker._changeproctitle

    @contextmanager
    @wraps(original)
    def _changeproctitle(*arguments: "Any", **named: "Any") -> "Iterator[Any]":
        kept = runtime.callback_begin()
        try:
            with original(*arguments, **named) as given:
                yield given
        finally:
            runtime.callback_end(kept)

    worker._changeproctitle = _changeproctitle


def _in_python(function: "Callable[..., Any]") -> "Callable[..., Any]":
    from functools import wraps

    @wraps(function)
    def call(*arguments: "Any", **named: "Any") -> "Any":
        kept = runtime.callback_begin()
        try:
            return function(*arguments, **named)
        finally:
            runtime.callback_end(kept)

    return call


def _python_from_here(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """For a Ray whose tasks cannot be told from waiting for them: from the first one on, the worker
    counts as Python, so that no task counts as waiting."""
    from functools import wraps

    @wraps(function)
    def call(*arguments: "Any", **named: "Any") -> "Any":
        runtime.callback_begin()  # without effect where it was called before
        return function(*arguments, **named)

    return call
