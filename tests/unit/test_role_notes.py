"""What a process notes of its role: by what it was started with."""

from __future__ import annotations

import functools
import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope.capture import roles


class Notes(dict[str, Any]):
    """Stands in for the recorder: the last note of each key."""

    def metadata(self, key: str, text: str) -> None:
        self[key] = json.loads(text)


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Notes:
    noted = Notes()
    monkeypatch.setattr(roles, "runtime", noted)
    return noted


class Process:
    """As multiprocessing.process.BaseProcess."""

    def __init__(self, target: Any, *arguments: Any, **named: Any) -> None:
        self._target, self._args, self._kwargs = target, arguments, named
        self._name, self._identity = "Process-1:3", (1, 3)


def collect(queue: Any, worker_id: int = 0, rank: int = 0) -> None:
    """A target with two numbers of which the first counts."""


class Pool:
    def collect(self, index: int) -> None:
        """A method as target."""

    def __call__(self, index: int) -> None:
        """An object as target."""


def note_of(notes: Notes, process: Any) -> dict[str, Any]:
    roles._note_child(SimpleNamespace(current_process=lambda: process))
    return dict(notes.get(roles.METADATA, {}))


@pytest.mark.parametrize(
    ("process", "target", "index"),
    [
        (Process(collect, None, 7, 8), "collect", 7),
        (Process(collect, None, worker_id=7), "collect", 7),
        (Process(collect, None), "collect", None),
        (Process(collect, None, "7", 8), "collect", 8),
        (Process(collect, None, True), "collect", None),
        (Process(functools.partial(collect, None), 7), "collect", 7),
        (Process(functools.partial(functools.partial(collect, rank=2), None)), "collect", 2),
        (Process(Pool().collect, 7), "Pool.collect", 7),
        (Process(Pool(), 7), "Pool", None),
        (Process(None), "Process", None),
    ],
)
def test_a_child_notes_its_target_and_number(
    notes: Notes, process: Process, target: str, index: int | None
) -> None:
    known = {"class": "Process", "name": "Process-1:3", "number": 3}
    known |= {} if index is None else {"index": index}
    assert note_of(notes, process) == known | {"target": f"{__name__}.{target}"}


def test_a_process_of_torch_spawn_is_that_of_its_function(notes: Notes) -> None:
    def _wrap(function: Any, index: int, arguments: Any, errors: Any) -> None: ...

    _wrap.__module__, _wrap.__qualname__ = "torch.multiprocessing.spawn", "_wrap"
    note = note_of(notes, Process(_wrap, collect, 4, (None, 9), ""))
    assert (note["target"], note["index"]) == (f"{__name__}.collect", 4)


def test_a_child_that_is_none_of_multiprocessing_is_left_alone(notes: Notes) -> None:
    class Strange:
        __slots__ = ()

        def __getattr__(self, name: str) -> Any:
            raise AssertionError("the program's code was called")

    assert note_of(notes, Strange()) == {}


@given(st.text(st.characters(codec=None)))
def test_any_text_is_json(text: str) -> None:
    assert json.loads(roles._quoted(text)).encode("utf-16", "surrogatepass") == text.encode(
        "utf-16", "surrogatepass"
    )


@pytest.mark.parametrize(
    ("environ", "noted"),
    [
        ({"RANK": "1", "LOCAL_RANK": "0", "WORLD_SIZE": "4"}, {"rank": 1, "local_rank": 0}),
        ({"RANK": "3"}, {"rank": 3}),
        ({"RANK": "-1"}, None),
        ({"RANK": "9" * 5000}, None),
        ({"WORLD_SIZE": "4"}, None),
    ],
)
def test_a_rank_is_what_the_launcher_says(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], noted: Any
) -> None:
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    roles.note_start()
    assert notes == {}  # the variables of another launcher
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    roles.note_start()
    found = notes.get(roles.RANK)
    assert (found and {**found, "world_size": 4}) == (noted and {**noted, "world_size": 4})


class Manager:
    """As ray._private.function_manager.FunctionActorManager."""

    def load_actor_class(self, job_id: int, descriptor: Any) -> Any:
        return job_id, descriptor

    def get_execution_info(self, job_id: int, descriptor: Any) -> Any:
        return job_id, descriptor


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Manager:
    for name in ("load_actor_class", "get_execution_info"):
        monkeypatch.setattr(Manager, name, vars(Manager)[name])
    monkeypatch.setattr(roles, "_tasks", [])
    monkeypatch.setattr(roles, "_actors", [])
    roles.watch_ray(SimpleNamespace(FunctionActorManager=Manager))
    return Manager()


def descriptor(function: str, owner: str = "") -> Any:
    return SimpleNamespace(function_name=function, class_name=owner)


def test_a_ray_worker_notes_its_actor(notes: Notes, manager: Manager) -> None:
    actor = descriptor("__init__", "Runner")
    assert manager.load_actor_class(3, actor) == (3, actor)
    manager.get_execution_info(3, descriptor("step", "Runner"))
    assert notes == {roles.METADATA: {"actor": "Runner"}}


def test_a_ray_worker_keeps_its_name_if_it_calls_other_actors(
    notes: Notes, manager: Manager
) -> None:
    for owner in ("Runner", "Server"):
        manager.load_actor_class(3, descriptor("__init__", owner))
    assert notes == {roles.METADATA: {"actor": "Runner"}}


@pytest.mark.parametrize(("is_nil", "noted"), [(True, "tasks"), (False, "actor")])
def test_a_task_that_calls_an_actor_is_none(
    notes: Notes,
    manager: Manager,
    monkeypatch: pytest.MonkeyPatch,
    is_nil: bool,
    noted: str,
) -> None:
    """An idle worker that ran tasks may become an actor."""
    worker = SimpleNamespace(actor_id=SimpleNamespace(is_nil=lambda: is_nil))
    module = SimpleNamespace(global_worker=worker)
    monkeypatch.setitem(sys.modules, "ray._private.worker", module)  # type: ignore[arg-type]
    manager.get_execution_info(3, descriptor("main.rollout"))
    manager.load_actor_class(3, descriptor("__init__", "Server"))
    assert list(notes[roles.METADATA]) == [noted]


def _wrapped(base: type) -> type:
    class _Wrapped(base):  # type: ignore[misc]
        pass

    return _Wrapped


class Learner:
    pass


@pytest.mark.parametrize(
    ("class_name", "made", "name"),
    [
        ("Runner", Learner, "Runner"),
        ("Outer.Runner", Learner, "Outer.Runner"),
        ("main.<locals>.Runner", Learner, "Runner"),
        ("wrap.<locals>._Wrapped", _wrapped(Learner), "Learner"),
        ("wrap.<locals>._Wrapped", _wrapped(_wrapped(Learner)), "Learner"),
        ("wrap.<locals>._Wrapped", _wrapped(object), "_Wrapped"),
        ("_Private", _wrapped(Learner), "_Private"),
    ],
)
def test_a_class_around_a_class_of_the_program_has_the_name_of_that_one(
    notes: Notes,
    manager: Manager,
    monkeypatch: pytest.MonkeyPatch,
    class_name: str,
    made: type,
    name: str,
) -> None:
    monkeypatch.setattr(roles, "_actors", [])
    roles._note_actor(descriptor("__init__", class_name), made)
    assert notes == {roles.METADATA: {"actor": name}}


def test_a_ray_worker_notes_its_first_tasks(notes: Notes, manager: Manager) -> None:
    for name in ("main.rollout", "main.rollout", "b", "c", "d", "e"):
        manager.get_execution_info(3, descriptor(name))
    assert notes == {roles.METADATA: {"tasks": "rollout, b, c, ..."}}


def test_another_release_of_ray_works_on(notes: Notes, manager: Manager) -> None:
    assert manager.load_actor_class(3, None) == (3, None)
    assert notes == {}
