"""Waits for what a compiled function of JAX computes: they belong to the function that makes it."""

from __future__ import annotations

import pytest
from support.process.automatic_programs import ENVIRONMENT, names
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load

_FUNCTIONS = """
import jax, jax.numpy as jnp, numpy

@jax.jit
def update(w):
    for _ in range(20):
        w = jnp.tanh(w @ w)
    return {"w": w}, (w.sum(), w.mean())

@jax.jit
def act(x):
    return x + 1.0

w, x = jnp.full((200, 200), 0.01), jnp.ones(3)
jax.block_until_ready((update(w), act(x)))
env.step(0)
"""
A, U, S = "compiled:act", "compiled:update", "simulation"
_WAITS = {
    # What a program does -> the operations that come of it.
    "float(act(x)[0])": [A, A],
    "update(w)[1][0].block_until_ready()": [U, U],
    "numpy.asarray(act(x))": [A, A],
    "numpy.array(act(x))": [A, A],
    "act(x).tolist()": [A, A],
    "update(w)[1][0].item()": [U, U],
    "jax.device_get(update(w)[1])": [U, U, U],
    "jax.block_until_ready(update(w)[1])": [U, U],
    "memoryview(act(x))": [A, A],
    # Whose it is, not which function was called last.
    "loss = update(w)[1][0]; action = act(x); float(loss); numpy.asarray(action)": [U, A, U, A],
    "weights = update(w)[0]; act(x); weights['w'].block_until_ready()": [U, A, U],
    # No known function made it: JAX computes in order.
    "loss = update(w)[1][0]; action = act(x) * 2; float(action[0])": [U, A, A],
    # Nothing waits for a result where no function was called.
    "float(jnp.ones(()))": [A],
    # Inside another call a wait is a part of that.
    "Waits(act(x)).step(0)": [A, S],
}


@pytest.mark.parametrize("program", _WAITS)
def test_a_wait_belongs_to_the_function_whose_result_it_is(directory: str, program: str) -> None:
    need("jax")
    waits = """
class Waits(Env):
    def __init__(self, action):
        self.action = action
    def step(self, action):
        return float(self.action[0]), 0.0, False, False, {}
"""
    script = f"{ENVIRONMENT}{_FUNCTIONS}{waits}"
    # Once to compile what the program calls beside the two functions.
    found = names(record(directory, f"{script}{program}\nenv.reset()\n{program}\n", timeout=300))
    expected = _WAITS[program]
    assert found[-len(expected) - 1 :] == [S, *expected]


_STOPWATCH = """
import time
spent = 0
for _ in range(50):
    env.step(0)
    began = time.monotonic_ns()
    weights, (loss, _) = update(w)
    float(loss)
    spent += time.monotonic_ns() - began
print(spent)
"""


def test_a_stopwatch_around_call_and_wait_agrees(directory: str) -> None:
    need("jax")
    recorded = record(directory, ENVIRONMENT + _FUNCTIONS + _STOPWATCH, timeout=300)
    with load(directory) as trace:
        ((found,),) = trace.sql(
            "SELECT sum(duration_ns) FROM operation_instance JOIN operation USING (operation_id)"
            " WHERE path = 'compiled:update' AND start_ns > ("
            "  SELECT min(start_ns) FROM operation_instance JOIN operation USING (operation_id)"
            "  WHERE path = 'simulation')"
        )
    assert found == pytest.approx(int(recorded.output), rel=0.1)
