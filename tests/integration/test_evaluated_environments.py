"""Evaluations that a program writes itself: steps in an environment that it does not learn from."""

from __future__ import annotations

from itertools import groupby

import pytest
from support.process.automatic_programs import ENVIRONMENT, iterations, names
from support.process.recorded_child import record

BEGIN = (
    ENVIRONMENT
    + """
def play(*worlds, steps=3):
    for world in worlds:
        world.reset()
        for _ in range(steps):
            forward()
            world.step(0)

def learn():
    forward(); backward(); optimize()

def train(*worlds, updates=5):
    for _ in range(updates):
        play(*worlds)
        learn()

other = Wrapper(Env())
"""
)
TRAINED = ["simulation", "inference", "backprop"]
"""The names of an update, each once."""


def found(directory: str, script: str) -> list[str]:
    """Names of the operations, each once between two updates."""
    groups: list[str] = []
    recorded = [name for name in names(record(directory, BEGIN + script)) if name != "import"]
    for is_update, group in groupby(recorded, lambda name: name == "backprop"):
        groups += ["backprop"] if is_update else dict.fromkeys(group)
    return groups


@pytest.mark.parametrize(
    "evaluate",
    [
        "play(other)",
        "play(other, Wrapper(Env()))",  # each episode has an environment of its own
        "play(other); play(other, steps=1)",
        "play(other, steps=0); play(other)",
        "other.reset(); forward(); other.step(0)",
    ],
)
def test_a_stretch_in_another_environment_is_an_evaluation(directory: str, evaluate: str) -> None:
    script = f"train(env)\n{evaluate}\ntrain(env, updates=2)\n{evaluate}\ntrain(env, updates=1)"
    again = ["evaluation", *TRAINED]
    assert found(directory, script) == TRAINED * 5 + again + TRAINED + again


def test_a_program_may_end_with_one(directory: str) -> None:
    assert found(directory, "train(env)\nplay(other)") == [*TRAINED * 5, "evaluation"]


def test_it_holds_what_lies_between_its_steps(directory: str) -> None:
    script = """
saving = runtime.watch("saving", lambda: None)
loading = runtime.watch("loading", lambda: None)
train(env)
saving()
other.reset()
for _ in range(3):
    forward()
    saving()
    other.step(0)
loading()
train(env, updates=1)
"""
    expected = [*TRAINED * 5, "saving", "evaluation", "loading", *TRAINED]
    assert found(directory, script) == expected


@pytest.mark.parametrize(
    "script",
    [
        "train(env, updates=3)\nplay(other)\ntrain(env)",  # too few updates came before
        "train(env)\nplay(other)\nlearn()\ntrain(env)",  # the program learns from it
        "train(other)\ntrain(env)\nplay(other)\ntrain(env)",  # or did so long ago
        "train(other, env)",  # they take turns
        "train(env)\ntrain(other)",
        "train(env)\nother.reset()\ntrain(env)",  # nobody acts
        "train(env)\nother.step(0); other.step(0)\ntrain(env)",
        "train(env)\nplay(other)\nwith rls.operation('mine'): pass",  # an annotation comes first
    ],
)
def test_without_evidence_the_operations_keep_their_names(directory: str, script: str) -> None:
    assert "evaluation" not in found(directory, script)


def test_an_evaluation_after_each_update_is_found_from_the_fourth_one_on(directory: str) -> None:
    names = found(directory, "for _ in range(7): train(env, updates=1); play(other)\nplay(env)")
    assert names.count("evaluation") == 4


def test_iterations_are_those_of_the_updates(directory: str) -> None:
    script = "train(env)\nplay(other)\ntrain(env, updates=2)"
    assert iterations(record(directory, BEGIN + script)) == [1] * 7


def test_a_thread_of_its_own_has_no_evaluation(directory: str) -> None:
    script = """
import threading
train(env)
thread = threading.Thread(target=play, args=[other])
thread.start()
thread.join()
train(env)
"""
    recorded = record(directory, BEGIN + script)
    by_thread = [names(recorded, thread) for thread in recorded.threads()]
    assert [("simulation" in each, "evaluation" in each) for each in by_thread] == [
        (True, False),
        (True, False),
    ]
