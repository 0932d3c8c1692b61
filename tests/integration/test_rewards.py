"""Whether a process steps one environment at a time, as rewards tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.process.automatic_programs import ENVIRONMENT, names
from support.process.recorded_child import record

_PROGRAM = """
from pathlib import Path
import numpy

class Returning(gymnasium.Env):
    def __init__(self, reward, count):
        self.result = (0, reward, False, False, {})[:count]

    def step(self, action):
        return self.result

    def reset(self, *, seed=None, options=None):
        return 0, {}
"""


@pytest.mark.parametrize(
    ("reward", "returned"),
    [
        ("1", (3, 0)),
        ("0.5", (3, 0)),
        ("numpy.float32(0.5)", (3, 0)),
        ("numpy.array(0.5)", (3, 0)),
        ("numpy.zeros(1)", (3, 0)),  # a vector of one
        ("numpy.zeros(2)", (0, 3)),
        ("[0.0, 1.0]", (0, 3)),
        ("{'first': 0.0, 'second': 1.0}", (0, 3)),
        ("None", (0, 0)),
    ],
)
def test_rewards_tell(directory: str, tmp_path: Path, reward: str, returned: tuple) -> None:
    script = f"""
world = gymnasium.Wrapper(Returning({reward}, 5))
world.reset()
for _ in range(3): world.step(0)
Returning({reward}, 2).step(0)
Path({str(tmp_path / "returned")!r}).write_text(repr(runtime.returned_rewards()))
"""
    record(directory, ENVIRONMENT + _PROGRAM + script)
    assert (tmp_path / "returned").read_text() == repr(returned)


def test_environments_that_are_stepped_in_turn_are_several(directory: str, tmp_path: Path) -> None:
    script = f"""
worlds = [Returning(0.5, 5) for _ in range(3)]
for world in worlds * 2: world.step(0)
Path({str(tmp_path / "returned")!r}).write_text(repr(runtime.returned_rewards()))
"""
    record(directory, ENVIRONMENT + _PROGRAM + script)
    assert (tmp_path / "returned").read_text() == "(2, 4)"


def test_the_first_steps_tell(directory: str, tmp_path: Path) -> None:
    script = f"""
world = Returning(1, 5)
for each in (*[[1, 2]] * 10, *[1] * 300):
    world.result = (0, each, False, False, {{}})
    world.step(0)
Path({str(tmp_path / "returned")!r}).write_text(repr(runtime.returned_rewards()))
"""
    record(directory, ENVIRONMENT + _PROGRAM + script)
    assert (tmp_path / "returned").read_text() == "(246, 10)"


@pytest.mark.parametrize(
    ("reward", "drawn", "acts"),
    [
        ("1.0", "3", True),
        ("1.0", "[3]", True),
        ("1.0", "'left'", True),
        ("1.0", "(3, 4)", True),  # a square of a board
        ("1.0", "[3, 4]", False),  # a batch, as of a memory
        ("[1.0, 1.0]", "[3, 4]", True),  # an action for each environment
    ],
)
def test_a_draw_of_several_chooses_no_action_of_one_environment(
    directory: str, reward: str, drawn: str, acts: bool
) -> None:
    script = f"""
draw = runtime.watch("draw", lambda value: value)
world = gymnasium.Wrapper(Returning({reward}, 5))
for _ in range(3): world.step(0)
draw({drawn})
world.step(0)
"""
    found = names(record(directory, ENVIRONMENT + _PROGRAM + script))
    assert ("inference" in found) == acts
