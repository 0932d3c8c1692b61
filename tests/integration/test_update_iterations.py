"""Iterations of processes that learn without an environment begin with steps of an optimizer."""

from __future__ import annotations

import pytest
from integration.test_evaluated_environments import BEGIN
from support.process.automatic_programs import iterations
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load

_OPTIMIZERS = """
class Optimizer:
    def step(self):
        pass
Optimizer.step = runtime.watch("step", Optimizer.step)
first, second = Optimizer(), Optimizer()

def update(*optimizers):
    for optimizer in optimizers:
        forward(); backward(); optimizer.step()

def evaluate():
    play(env)
"""


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("update(first)", 0),
        ("for _ in range(5): update(first)", 4),
        ("for _ in range(5): update(first, second)", 4),
        # The second one is there first, and steps in every tenth update.
        ("update(second)\nfor _ in range(9): update(*[first] * 9, second)", 9),
        # The first one is not used any more. The 64th step of the other one counts.
        ("for _ in range(5): update(first)\nfor _ in range(70): update(second)", 4 + 7),
        # An evaluation is no iteration, and no step of a program that learns from it.
        ("for _ in range(5): update(first); evaluate()", 4),
        ("evaluate()\nfor _ in range(5): update(first)", 4),
        # The program has learned for long without an environment, and goes on to count so.
        ("for _ in range(20): update(first)\nplay(env)\nfor _ in range(5): update(first)", 24),
        # Not long enough: the environment's steps begin iterations from then on.
        ("for _ in range(19): update(first)\nplay(env)\nupdate(first)\nplay(env)", 18 + 2),
        ("play(env)\nfor _ in range(5): update(first)", 1),
    ],
)
def test_iterations_begin_with_steps_of_one_optimizer(
    directory: str, script: str, count: int
) -> None:
    assert iterations(record(directory, BEGIN + _OPTIMIZERS + script)) == [1] * count


def test_iterations_of_the_program_end_them(directory: str) -> None:
    script = "for _ in range(5): update(first)\nfor _ in range(3): rls.iteration(); update(first)"
    assert iterations(record(directory, BEGIN + _OPTIMIZERS + script)) == [1] * 4 + [0] * 3


def test_a_child_counts_anew(directory: str) -> None:
    script = """
import os
for _ in range(25): update(first)
child = os.fork()
for _ in range(5): update(first)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""
    recorded = record(directory, BEGIN + _OPTIMIZERS + script)
    assert [len(iterations(recorded, each)) for each in range(2)] == [29, 4]


def test_the_program_may_end_with_one(directory: str) -> None:
    script = """
import sys
try:
    for number in range(9):
        update(first)
except SystemExit:
    assert number == 3
    raise
"""
    recorded = record(directory, BEGIN + _OPTIMIZERS + script, exit_after=2)
    assert iterations(recorded) == [1] * 3


_TORCH = """
import rlscope.auto
rlscope.auto.begin()
import torch
network = torch.nn.Linear(2, 1)
critic, actor = (torch.optim.Adam(network.parameters()) for _ in range(2))
for update in range(8):
    for optimizer in (critic, actor)[: 1 + update % 2]:
        optimizer.zero_grad()
        network(torch.ones(3, 2)).mean().backward()
        optimizer.step()
"""
_JAX = """
import rlscope.auto
rlscope.auto.begin()
import jax

@jax.jit
def update(weights):
    return weights - jax.grad(lambda each: (each**2).sum())(weights)

weights = jax.numpy.ones(3)
for _ in range(8):
    weights = update(weights)
"""


@pytest.mark.parametrize(("library", "program", "count"), [("torch", _TORCH, 7), ("jax", _JAX, 6)])
def test_a_library_that_learns_from_a_data_set_has_iterations(
    directory: str, library: str, program: str, count: int
) -> None:
    need(library)
    record(directory, program, timeout=120)
    with load(directory) as trace:
        rows = trace.sql("SELECT source, complete FROM iteration ORDER BY start_ns").to_dicts()
    assert [row["source"] for row in rows] == ["automatic"] * count
    assert [row["complete"] for row in rows] == [True] * (count - 1) + [False]
