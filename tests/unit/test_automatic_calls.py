"""Functions that automatic operations watch: they look unchanged from every side.

The test process is not recorded: what is watched here records nothing.
"""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from rlscope.auto import ROWS, calls, conversions, environments, updates
from rlscope.auto.environments import watch_environments
from rlscope.recorder import runtime

IN_PLACE = sys.version_info[:2] != (3, 11)


def _plain() -> None:
    return None


@pytest.fixture(autouse=True)
def tracks() -> None:
    """What rlscope.auto.begin() does first, without any import to wait for."""
    assert runtime.watch_imports({}, _plain)


def documented(first: int, second: str = "x", *, third: float = 0.5) -> str:
    """What it does."""
    return f"{first}{second}{third}"


class Home:
    """A class that can be imported, with a method that can be watched."""

    def step(self, action: int, *, scale: int = 1) -> int:
        """Moves."""
        return action * scale


def stand_in(function: Callable[..., Any] = documented) -> Any:
    return runtime.watch("simulation", function)


def test_a_stand_in_looks_like_its_function() -> None:
    function = stand_in()
    assert function(1, third=2.0) == "1x2.0"
    assert isinstance(function, types.FunctionType)
    assert inspect.isfunction(function)
    assert repr(function) == repr(documented)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__code__", "__defaults__"):
        assert getattr(function, name) == getattr(documented, name)
    assert inspect.signature(function) == inspect.signature(documented)
    assert inspect.getfullargspec(function) == inspect.getfullargspec(documented)
    assert inspect.getsource(function) == inspect.getsource(documented)
    assert inspect.unwrap(function) is documented
    assert weakref.ref(function)() is function


def test_attributes_are_those_of_the_function() -> None:
    def function() -> None:
        return None

    watched = stand_in(function)
    watched.note = 1
    assert function.note == 1  # type: ignore[attr-defined]
    del watched.note
    assert not hasattr(function, "note")
    with pytest.raises(AttributeError, match="has no attribute 'missing'"):
        _ = watched.missing


def test_a_stand_in_binds_like_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Home, "step", stand_in(Home.step))
    home = Home()
    assert home.step(3, scale=2) == 6
    assert home.step.__self__ is home
    assert str(inspect.signature(home.step)) == "(action: 'int', *, scale: 'int' = 1) -> 'int'"
    assert super(Home, home).__getattribute__("step")(2) == 2
    assert pickle.loads(pickle.dumps(home.step))(4) == 4
    assert pickle.loads(pickle.dumps(Home.step)) is Home.step
    assert copy.deepcopy(Home.step) is Home.step


def test_exceptions_and_wrong_arguments_come_through() -> None:
    def fails() -> None:
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        stand_in(fails)()
    with pytest.raises(TypeError, match="documented"):
        stand_in()()


def test_a_stand_in_is_made_once_and_collected() -> None:
    def function() -> None:
        return None

    watched = stand_in(function)
    assert runtime.watch("simulation", watched) is watched
    function.cycle = watched  # type: ignore[attr-defined]
    gone = weakref.ref(function)
    del function, watched
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("event", ["nothing", "", None])
def test_events_have_names(event: Any) -> None:
    with pytest.raises(ValueError, match="no such event"):
        runtime.watch(event, documented)
    with pytest.raises(ValueError, match="no such event"):
        runtime.watch_in_place(event, documented)


def test_only_functions_are_changed_in_place() -> None:
    assert not runtime.watch_in_place("forward", len)
    assert not runtime.watch_in_place("forward", Home)


def test_a_function_is_changed_in_place_for_one_event() -> None:
    def function(*numbers: int) -> int:
        return sum(numbers)

    assert runtime.watch_in_place("forward", function)
    assert runtime.watch_in_place("forward", function)
    assert not runtime.watch_in_place("backward", function)
    arguments = (1, 2)
    assert function(*arguments) == 3
    assert list(map(function, [4], [5])) == [9]


def test_methods_that_suspend_or_are_abstract_are_left_alone() -> None:
    class Odd:
        async def step(self) -> None:
            return None

        def reset(self) -> Any:
            yield 1

        def close(self) -> None:
            return None

        close.__isabstractmethod__ = True  # type: ignore[attr-defined]

    before = dict(vars(Odd))
    for name in ("step", "reset", "close", "missing", "__module__"):
        calls.watch_method("simulation", Odd, name)
    assert dict(vars(Odd)) == before


def test_class_methods_and_static_methods_stay_what_they_are() -> None:
    class Model:
        @classmethod
        def load(cls, path: str) -> tuple[type, str]:
            return cls, path

        @staticmethod
        def read(path: str) -> str:
            return path

    class Deep(Model):
        pass

    before = {name: vars(Model)[name].__func__ for name in ("load", "read")}
    for name in before:
        calls.watch_method("simulation", Model, name)
    kinds = {name: type(vars(Model)[name]) for name in before}
    assert kinds == {"load": classmethod, "read": staticmethod}
    for name, function in before.items():
        assert is_watched(vars(Model)[name].__func__)
        assert inspect.unwrap(vars(Model)[name].__func__) is function
    assert (Model.load("a"), Deep().load("b")) == ((Model, "a"), (Deep, "b"))
    assert (Model.read("a"), Deep().read("b")) == ("a", "b")
    assert str(inspect.signature(Deep.load)) == "(path: 'str') -> 'tuple[type, str]'"
    assert Deep.load.__self__ is Deep  # type: ignore[attr-defined]


def test_what_a_class_has_in_the_place_of_a_method_is_watched_too() -> None:
    class Model:
        @classmethod
        def load(cls) -> list[str]:
            return [cls.__name__]

    class Early(Model):
        @classmethod
        def load(cls) -> list[str]:
            return [*super().load(), "early"]

    calls.watch_below("simulation", Model, "load")

    class Late(Early):
        @classmethod
        def load(cls) -> list[str]:
            return [*super().load(), "late"]

    assert all(is_watched(vars(owner)["load"].__func__) for owner in (Model, Early, Late))
    assert Late.load() == ["Late", "early", "late"]


def test_environments_are_watched_with_their_subclasses_and_mixins() -> None:
    class Env:
        def step(self) -> int:
            return 0

    class Early(Env):
        def step(self) -> int:
            return 1 + super().step()

    watch_environments(Env, ("step",))

    class Mixin:
        def step(self) -> int:
            return 2

    class Late(Mixin, Env):
        pass

    class Options(Env):
        def __init_subclass__(cls, *, tag: str = "", **rest: Any) -> None:
            super().__init_subclass__(**rest)
            cls.tag = tag  # type: ignore[attr-defined]

    class Tagged(Options, tag="kept"):
        def step(self) -> int:
            return 3

    for owner in (Env, Early, Mixin, Tagged):
        assert is_watched(vars(owner)["step"]), owner
    assert [each().step() for each in (Env, Early, Late, Tagged)] == [0, 1, 2, 3]
    assert Tagged.tag == "kept"  # type: ignore[attr-defined]
    with pytest.raises(TypeError):

        class Wrong(Env, unknown=1):  # type: ignore[call-arg]
            pass


def is_watched(function: Any) -> bool:
    if IN_PLACE:
        return bool(runtime.watch_in_place("simulation", function))
    return type(function).__name__ == "StandIn"


@pytest.mark.parametrize("row", ROWS.values())
def test_every_row_names_a_function(row: str) -> None:
    module, _, name = row.partition(":")
    source = inspect.getsource(__import__(module, fromlist=[name]))
    assert f"def {name}(module: " in source


@pytest.mark.parametrize(
    ("row", "table"),
    [
        ("rlscope.auto.environments:watch_library", environments.CLASSES),
        ("rlscope.auto.updates:watch", updates.METHODS),
    ],
)
def test_every_module_of_a_table_has_a_row(row: str, table: dict[str, Any]) -> None:
    assert {name for name, each in ROWS.items() if each == row} == set(table)


@pytest.mark.parametrize("name", environments.CLASSES)
def test_environments_of_a_library_are_watched(name: str) -> None:
    module = types.ModuleType(name)
    for each in environments.CLASSES[name]:
        vars(module)[each] = type(each, (), {"step": lambda self: 1, "__module__": name})
    environments.watch_library(module)
    for each in environments.CLASSES[name]:
        derived = type("Derived", (vars(module)[each],), {"reset": lambda self: 2})
        assert is_watched(vars(derived)["reset"])
        assert is_watched(vars(vars(module)[each])["step"])
        assert (derived().step(), derived().reset()) == (1, 2)


@pytest.mark.parametrize("name", updates.METHODS)
def test_parts_of_an_update_are_watched(name: str) -> None:
    module = types.ModuleType(name)
    for owner, method in updates.METHODS[name]:
        vars(module)[owner] = type(owner, (), {method: lambda self: 1, "__module__": name})
    updates.watch(module)
    for owner, method in updates.METHODS[name]:
        derived = type("Derived", (vars(module)[owner],), {method: lambda self: 2})
        assert is_watched(vars(derived)[method])
        assert is_watched(vars(vars(module)[owner])[method])
        assert getattr(derived(), method)() == 2


def test_what_tianshou_makes_of_infos_is_watched() -> None:
    module: Any = types.ModuleType("tianshou.data.collector")
    module._HACKY_create_info_batch = lambda infos: len(infos)
    conversions.watch_tianshou(module)
    assert is_watched(module._HACKY_create_info_batch)
    assert module._HACKY_create_info_batch([1, 2]) == 2
