"""Each greenlet has operations of its own, from switch to switch, whoever switches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import TracedPython

from rlscope.opening import load
from rlscope.report import headline

pytest.importorskip("greenlet", minversion="2")
pytestmark = pytest.mark.usefixtures("clean_environment")

_PRELUDE = """
import ctypes, json, time
import greenlet
import rlscope as rls

spent = {}

def work(name):
    begun = time.monotonic_ns()
    while time.monotonic_ns() - begun < 3_000_000:
        pass
    spent[name] = spent.get(name, 0) + time.monotonic_ns() - begun

def by_method(target):
    return target.switch()

# C code that was built with greenlet.h switches by entry 6 of this table.
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
table = pointer_of(greenlet._greenlet._C_API, b"greenlet._C_API")
prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)

def by_function(target):
    entry = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[6]
    return prototype(entry)(target, None, None)
"""
# Each keeps its own operation open while the other one runs.
_TURNS = """
def actor():
    for _ in range(5):
        with rls.operation("act"):
            work("act")
            switch(learning)
            work("act")

def learner():
    while True:
        with rls.operation("learn"):
            work("learn")
            switch(acting)
            work("learn")

acting, learning = greenlet.greenlet(actor), greenlet.greenlet(learner)
begun = time.monotonic_ns()
switch(acting)
print(json.dumps([spent, time.monotonic_ns() - begun]))
"""


def run(traced: TracedPython, directory: str, folder: Path, program: str) -> Any:
    return json.loads(traced.record(directory, folder / "turns.py", _PRELUDE + program))


def own_times(directory: str) -> dict[str, int]:
    with load(directory) as trace:
        return dict(
            trace.sql(
                "SELECT path, CAST(SUM(self_ns) AS BIGINT) FROM operation_instance"
                " JOIN operation USING (operation_id) GROUP BY path"
            )
        )


@pytest.mark.parametrize("switch", ["by_method", "by_function"])
def test_operations_of_two_greenlets_are_not_inside_each_other(
    traced: TracedPython, directory: str, tmp_path: Path, switch: str
) -> None:
    spent, wall_ns = run(traced, directory, tmp_path, f"switch = {switch}\n{_TURNS}")
    times = own_times(directory)
    assert times.keys() == {"act", "learn"}
    for name, other in (("act", "learn"), ("learn", "act")):
        assert spent[name] <= times[name] <= wall_ns - spent[other]


def test_a_throw_is_a_switch(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    program = """
def inner():
    with rls.operation("inner"):
        try:
            work("inner")
            main.switch()
        except ValueError:
            work("inner")
            main.switch()

main = greenlet.getcurrent()
child = greenlet.greenlet(inner)
begun = time.monotonic_ns()
with rls.operation("outer"):
    child.switch()
    work("outer")
    child.throw(ValueError)
    work("outer")
print(json.dumps([spent, time.monotonic_ns() - begun]))
"""
    spent, wall_ns = run(traced, directory, tmp_path, program)
    times = own_times(directory)
    # A greenlet's operations lie inside those that its thread had open before.
    assert times.keys() == {"outer", "outer/inner"}
    assert spent["inner"] <= times["outer/inner"] <= wall_ns - spent["outer"]
    assert spent["outer"] <= times["outer"] <= wall_ns - spent["inner"]


def test_the_program_sees_nothing_of_it(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    program = """
def echo(value):
    while True:
        value = main.switch(value + 1)

main = greenlet.getcurrent()
child = greenlet.greenlet(echo)
found = [child.switch(1), child.switch(5)]
try:
    child.throw(KeyError, "x")
except KeyError as error:
    found.append(repr(error))
print(json.dumps([*found, child.dead, greenlet.gettrace() is None]))
"""
    assert run(traced, directory, tmp_path, program) == [2, 6, "KeyError('x')", True, True]


_STEPS = """
import sys, time
import gymnasium as gym
from greenlet import getcurrent, greenlet

class Env(gym.Env):
    def step(self, action):
        time.sleep(0.001)
        if sys.argv[1] == "inside":
            others[getcurrent()].switch()
        return 0, 0.0, False, False, {}

def act():
    env = Env()
    for _ in range(20):
        if sys.argv[1] == "learning":
            (weight * 1).backward()
        env.step(0)
        others[getcurrent()].switch()

if sys.argv[1] == "learning":  # from what it acted with: between its steps and its backwards
    import torch

    weight = torch.ones((), requires_grad=True)
one, other = greenlet(act), greenlet(act)
others = {one: other, other: one}
one.switch()
"""


@pytest.mark.parametrize("where", ["inside", "between", "learning"])
def test_operations_that_hold_those_of_other_greenlets_are_said_first(
    traced: TracedPython, directory: str, tmp_path: Path, where: str
) -> None:
    """Nothing annotates them, so that their times are of the thread."""
    pytest.importorskip("gymnasium")
    traced.record(directory, tmp_path / "steps.py", _STEPS, where)
    with load(directory) as trace:
        sentence = headline.read(trace).sentence
    said = "Greenlets" in sentence and "cannot be told apart" in sentence
    assert said == (where == "inside")
    assert "Simulation takes" in sentence
