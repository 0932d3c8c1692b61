"""Evaluations in functions whose names say so, whatever environment they step."""

from __future__ import annotations

import pytest
from integration.test_evaluated_environments import BEGIN, TRAINED, found
from support.process.automatic_programs import iterations
from support.process.recorded_child import record

_ACTS = ["simulation", "inference"]
_EVALUATED = [*TRAINED, "evaluation"]


@pytest.mark.parametrize(
    ("definition", "call"),
    [
        ("def evaluate(): play(env)", "evaluate()"),
        ("def run_test_episode(): play(env)", "run_test_episode()"),
        ("def testAgent(): play(env)", "testAgent()"),
        ("def _eval(): play(env, env)", "_eval()"),
        ("def validation(): env.reset(); env.step(0)", "validation()"),  # nobody acts
        ("class Agent:\n    def evaluate(self): play(env)", "Agent().evaluate()"),
        ("class TheArena:\n    def duel(self): play(env)", "TheArena().duel()"),
        ("def inner():\n    def evaluate(): play(env)\n    evaluate()", "inner()"),
    ],
)
def test_a_function_that_says_so_evaluates(directory: str, definition: str, call: str) -> None:
    script = f"{definition}\nfor _ in range(3): train(env, updates=1); {call}"
    assert found(directory, script) == _EVALUATED * 3


def test_a_program_that_learns_without_an_environment_evaluates(directory: str) -> None:
    script = "def evaluate(): play(env)\nfor _ in range(4): learn(); learn(); evaluate()"
    assert found(directory, script) == ["backprop", "evaluation"] * 4


def test_it_may_share_what_steps_with_the_training(directory: str) -> None:
    script = """
def evaluate():
    play(env)
for _ in range(3):
    play(env)
    learn()
    evaluate()
"""
    assert found(directory, script) == _EVALUATED * 3


def test_the_outermost_one_counts(directory: str) -> None:
    script = """
def evaluate():
    play(env)
def test_all():
    evaluate()
    forward()
    evaluate()
for _ in range(2):
    train(env, updates=1)
    test_all()
"""
    assert found(directory, script) == _EVALUATED * 2


@pytest.mark.parametrize("name", ["latest", "contest", "evaluable", "value", "attestation", "run"])
def test_other_names_say_nothing(directory: str, name: str) -> None:
    script = f"def {name}(): play(env)\nfor _ in range(3): train(env, updates=1); {name}()"
    assert "evaluation" not in found(directory, script)


def test_a_function_inside_of_another_one_has_its_own_name(directory: str) -> None:
    script = """
def test():
    def run(): play(env)
    return run
run = test()
for _ in range(3): train(env, updates=1); run()
"""
    assert "evaluation" not in found(directory, script)


def test_what_learns_evaluates_nothing(directory: str) -> None:
    script = "def test(): train(env)\nfor _ in range(3): test()\ndef test(): play(env)\ntest()"
    assert found(directory, script) == [*TRAINED * 15, "evaluation"]


def test_what_learns_later_evaluates_no_longer(directory: str) -> None:
    script = """
def evaluate(learns=False):
    play(env)
    if learns:
        learn()
train(env, updates=1); evaluate()
train(env, updates=1); evaluate(True)
train(env, updates=1); evaluate()
train(env, updates=1)
"""
    others = ["simulation", "inference", "backprop"]
    assert found(directory, script) == [*_EVALUATED, *others * 2, *TRAINED, *others]


@pytest.mark.parametrize(("begin", "evaluates"), [("env.reset()", True), ("env.step(0)", False)])
def test_one_that_begins_with_a_reset_may_follow_other_steps(
    directory: str, begin: str, evaluates: bool
) -> None:
    script = f"""
def evaluate():
    {begin}
    for _ in range(3):
        forward()
        env.step(0)
for _ in range(3):
    play(env)
    evaluate()
    learn()
"""
    cycle = ["simulation", "inference", *["evaluation"] * evaluates, "backprop"]
    assert found(directory, script) == cycle * 3


def test_one_in_another_environment_needs_no_update(directory: str) -> None:
    script = """
def evaluate(): play(other)
for _ in range(2):
    play(env)
    evaluate()
play(env)
learn()
"""
    assert found(directory, script) == ["simulation", "inference", "evaluation", "backprop"]


def test_a_program_may_begin_with_one(directory: str) -> None:
    script = "def evaluate(): play(env)\nevaluate(); learn(); learn(); evaluate(); learn()"
    assert found(directory, script) == ["evaluation", "backprop"] * 2


def test_a_program_that_learns_from_its_first_steps_does_not(directory: str) -> None:
    script = "def evaluate(): play(env)\nevaluate(); evaluate(); train(env); evaluate()"
    assert found(directory, script) == [*TRAINED * 5, "evaluation"]


def test_a_program_that_never_learns_evaluates_nothing(directory: str) -> None:
    """As one that searches for weights at random: what it does there is all that it does."""
    script = "def evaluate(): play(env)\nfor _ in range(5): evaluate()"
    assert found(directory, script) == _ACTS


def test_its_steps_begin_no_iteration(directory: str) -> None:
    script = "def evaluate(): play(env)\nfor _ in range(4): train(env, updates=1); evaluate()"
    assert iterations(record(directory, BEGIN + script)) == [1] * 4
