"""What is hooked in a Ray worker, by releases of Ray that have it and that do not."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest

from rlscope.capture import ray_worker


class Manager:
    """As ray._private.function_manager.FunctionActorManager."""

    def load_actor_class(self) -> str:
        return "class"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the core is told, in order."""
    calls: list[str] = []

    class Runtime:
        @staticmethod
        def callback_begin() -> None:
            calls.append("begin")

        @staticmethod
        def callback_end(_kept: object) -> None:
            calls.append("end")

    monkeypatch.setattr(ray_worker, "runtime", Runtime)
    manager = ModuleType("ray._private.function_manager")
    owner = type("FunctionActorManager", (), dict(vars(Manager)))
    manager.FunctionActorManager = owner  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, manager.__name__, manager)
    return calls


def worker(*, has_titles: bool) -> Any:
    module: Any = ModuleType("ray._private.worker")
    module.init = lambda: None
    if has_titles:
        module._changeproctitle = contextmanager(lambda title: iter([title]))
    return module


def load_class() -> str:
    owner: Any = sys.modules["ray._private.function_manager"]
    return str(owner.FunctionActorManager().load_actor_class())


def test_tasks_and_loading_are_in_python_and_the_rest_is_not(said: list[str]) -> None:
    module = worker(has_titles=True)
    ray_worker.watch(module)
    assert load_class() == "class"
    assert said == ["begin", "end"]
    with module._changeproctitle("ray::act") as title:
        assert (title, said) == ("ray::act", ["begin", "end", "begin"])
    assert said == ["begin", "end", "begin", "end"]


def test_a_worker_whose_tasks_are_not_seen_waits_for_none_of_them(said: list[str]) -> None:
    """Its tasks would count as waiting else."""
    ray_worker.watch(worker(has_titles=False))
    assert load_class() == "class"
    assert said == ["begin"]
