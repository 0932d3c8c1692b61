"""Environments of programs whose policy is no module of a library: tables, trees, arrays."""

from __future__ import annotations

import pytest
from support.process.counted_forks import operations_of_forks
from support.process.traced_python import TracedPython

pytest.importorskip("numpy")
pytestmark = pytest.mark.usefixtures("clean_environment")

STEPS = 30
# The first three steps show that the class is one of environments.
FOUND = {"simulation": STEPS - 3}
PROGRAM = """
import gc, os
import numpy as np

STEPS = {steps}

for classes in {texts!r}:
    child = os.fork()
    if child == 0:
        exec(classes, globals())
        world = World()
        world.reset()
        for _ in range(STEPS):
            world.step(1)
            gc.collect()
        os._exit(0)
    print(child)
    assert os.waitpid(child, 0)[1] == 0
"""
WORLD = """
class World:
    def reset(self): return 0
    def step(self, action): return {}
"""
WRAPPED = """
class Inner:
    def reset(self): return 0
    def step(self, action): return 0, 1.0, False, {}
class World:
    def __init__(self): self.inner = Inner()
    def reset(self): return self.inner.reset()
    def step(self, action): return self.inner.step(action)
"""
CHANGING = """
class World:
    steps = 0
    def reset(self): return 0
    def step(self, action):
        self.steps += 1
        return (0, 1.0) if self.steps == 2 else (0, 1.0, False)
"""
# Classes, each with what is found of them.
CASES: dict[str, tuple[str, dict[str, int]]] = {
    "old Gym": (WORLD.format("0, 1.0, False"), FOUND),
    "Gymnasium": (WORLD.format("0, 1, True, False, {}"), FOUND),
    "lists of a vector": (WORLD.format("[0, 0], [1.0, 0.5], (False, True), [{}, {}]"), FOUND),
    "arrays": (WORLD.format("np.zeros((2, 3)), np.ones(2), np.zeros(2, bool)"), FOUND),
    "wrapped": (WRAPPED, FOUND),
    "no end": (WORLD.format("(0, 1.0)"), {}),
    "no reward": (WORLD.format("(0, True, False)"), {}),
    "no truth": (WORLD.format("(0, 1.0, 2.0)"), {}),
    "a text": (WORLD.format("(0, 'high', False)"), {}),
    "a list": (WORLD.format("[0, 1.0, False]"), {}),
    "not each time": (CHANGING, {}),
}


@pytest.fixture(scope="module")
def found(
    traced: TracedPython, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, int]]:
    """The cases are forks."""
    folder = tmp_path_factory.mktemp("children")
    program = PROGRAM.format(texts=[classes for classes, _ in CASES.values()], steps=STEPS)
    return operations_of_forks(traced, folder, program, CASES)


@pytest.mark.parametrize("name", CASES)
def test_what_steps_return_shows_an_environment(
    found: dict[str, dict[str, int]], name: str
) -> None:
    operations = {path: count for path, count in found[name].items() if path != "gc"}
    assert operations == CASES[name][1]


def test_collections_are_recorded_from_then_on(found: dict[str, dict[str, int]]) -> None:
    assert found["old Gym"]["gc"] >= STEPS - 3
