"""Evaluations of programs that step no environment: of games, or of texts."""

from __future__ import annotations

import pytest
from integration.test_evaluated_environments import BEGIN
from integration.test_evaluated_environments import found as found_with_environments
from support.process.automatic_programs import names
from support.process.recorded_child import record

_NO_ENVIRONMENT = """
convert = runtime.watch("output", lambda: None)
write = runtime.watch("generation", lambda: None)
save = runtime.watch("saving", lambda: None)

class NoGradients:
    def __enter__(self): pass
    def __exit__(self, *error): pass
NoGradients.__enter__ = runtime.watch("block enter", NoGradients.__enter__)
NoGradients.__exit__ = runtime.watch("block exit", NoGradients.__exit__)

def act(count=3):
    for _ in range(count):
        with NoGradients():
            forward()
        convert()

def evaluate(count=8):
    act(count)

def loop(*after, count=3):
    for _ in range(count):
        act(); learn()
        for what in after:
            what()
"""
_CYCLE = ["inference", "backprop"]


def found(directory: str, script: str) -> list[str]:
    """Names of the operations in order, those that follow themselves once."""
    recorded = record(directory, BEGIN + _NO_ENVIRONMENT + script)
    operations: list[str] = []
    for name in names(recorded):
        if name != "import" and operations[-1:] != [name]:
            operations.append(name)
    return operations


def test_forwards_in_a_function_that_says_so_are_an_evaluation(directory: str) -> None:
    script = "act(); learn(); loop(evaluate)"
    assert found(directory, script) == [*_CYCLE, *[*_CYCLE, "evaluation"] * 3]


@pytest.mark.parametrize(
    "script",
    [
        "loop(lambda: evaluate(7))",  # too few: the value of one position
        "for _ in range(3): evaluate(); learn()",  # all that acts is in it
        "loop(); evaluate(); backward(); optimize()",  # it learns from them
        "def value(): act(9)\nloop(value)",
    ],
)
def test_other_forwards_keep_their_names(directory: str, script: str) -> None:
    assert "evaluation" not in found(directory, script)


def test_what_learns_from_its_forwards_is_never_one_again(directory: str) -> None:
    script = "loop(); evaluate(); backward(); optimize(); loop(evaluate)"
    assert "evaluation" not in found(directory, script)


@pytest.mark.parametrize("after", ["act()", "save()", ""])
def test_it_ends_with_its_last_forward(directory: str, after: str) -> None:
    """What is saved, or acts, after the call is no part of it."""
    rest = {"act()": ["inference"], "save()": ["saving"], "": []}[after]
    assert found(directory, f"loop(); evaluate(); {after}") == [*_CYCLE * 3, "evaluation", *rest]


def test_texts_are_evaluated_too(directory: str) -> None:
    script = """
def evaluate():
    write()
for _ in range(3):
    write(); learn(); evaluate()
"""
    assert found(directory, script) == ["generation", "backprop", "evaluation"] * 3


def test_steps_of_an_environment_decide_where_there_are_some(directory: str) -> None:
    script = _NO_ENVIRONMENT + "play(env); loop(evaluate)"
    assert "evaluation" not in found_with_environments(directory, script)
