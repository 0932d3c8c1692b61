"""Waits for what a compiled function of JAX computes: they belong to the function that makes it."""

from __future__ import annotations

import pytest
from support.process.automatic_programs import ENVIRONMENT, names
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load

_FUNCTIONS = """
import jax, jax.numpy as jnp, numpy

def loss(w):
    for _ in range(20):
        w = jnp.tanh(w @ w)
    return w.sum()

@jax.jit
def update(w):
    value, slope = jax.value_and_grad(loss)(w)
    return {"w": slope}, (value, slope.mean())

@jax.jit
def act(x):
    return x + 1.0

w, x = jnp.full((200, 200), 0.01), jnp.ones(3)
jax.block_until_ready((update(w), act(x)))
"""
A, U, S, END = "compiled:act", "update:update", "simulation", "closing"
_CALL = "compiled:update"
_WAITS = {
    # What a program does -> the operations that come of it.
    "float(act(x)[0])": [A, A],
    "update(w)[1][0].block_until_ready()": [_CALL, _CALL],
    "numpy.asarray(act(x))": [A, A],
    "numpy.array(act(x))": [A, A],
    "act(x).tolist()": [A, A],
    "update(w)[1][0].item()": [_CALL, _CALL],
    "jax.device_get(update(w)[1])": [_CALL] * 3,
    "jax.block_until_ready(update(w)[1])": [_CALL, _CALL],
    "memoryview(act(x))": [A, A],
    # Whose it is, not which function was called last.
    "loss = update(w)[1][0]; action = act(x); float(loss); numpy.asarray(action)": [
        *(_CALL, A, _CALL, A)
    ],
    "weights = update(w)[0]; act(x); weights['w'].block_until_ready()": [_CALL, A, _CALL],
    # No known function made it: JAX computes in order.
    "loss = update(w)[1][0]; action = act(x) * 2; float(action[0])": [_CALL, A, A],
    # Nothing waits for a result where no function was called.
    "float(jnp.ones(()))": [A],
}
_I = "inference"
_STEPS = {
    # The same once the process has stepped an environment.
    "numpy.asarray(act(x)); env.step(0)": [_I, S],
    "float(update(w)[1][0]); env.step(0)": [U, U, S],
    # A result of what was an inference, after the step.
    "value = act(x); env.step(0); float(value[0]); env.step(0)": [_I, S, _I, S],
    # An action waits for the update that JAX computes first; whose result it is counts.
    "loss = update(w)[1][0]; act(x); float(loss); env.step(0)": [U, _I, U, _I, S],
    # The action waits for the update, which nobody waited for; the next one does not.
    "update(w); numpy.asarray(act(x)); numpy.asarray(act(x)); env.step(0)": [*(U, _I, U, _I, S)],
    # An action that was asked for before the update does not.
    "action = act(x); env.step(0); update(w); numpy.asarray(action); env.step(0)": [
        _I,
        S,
        U,
        _I,
        S,
    ],
    # Before an update a forward and the wait for it are a part of that.
    "numpy.asarray(act(x)); float(update(w)[1][0]); env.step(0)": ["backprop", "backprop", U, U, S],
    # A function that goes on from its own results has seen no observation. The first call does not.
    "y = act(x); env.step(0); y = act(y); float(y[0]); env.step(0)": [_I, S, A, A, S],
    "y = act(x); env.step(0); act(y + 1); env.step(0)": [_I, S, _I, S],
    # Inside another call a wait is a part of that.
    "Waits(act(x)).step(0)": [_I, S],
}
_ENVIRONMENT = """
class Waits(Env):
    def __init__(self, action):
        self.action = action
    def step(self, action):
        return float(self.action[0]), 0.0, False, False, {}
"""


@pytest.mark.parametrize("program", _WAITS)
def test_a_wait_belongs_to_the_function_whose_result_it_is(directory: str, program: str) -> None:
    need("jax")
    # Once to compile what the program calls beside the two functions.
    script = f"{ENVIRONMENT}{_FUNCTIONS}{program}\nenv.close()\n{program}\n"
    found = names(record(directory, script, timeout=300))
    expected = _WAITS[program]
    assert found[-len(expected) - 1 :] == [END, *expected]


@pytest.mark.parametrize("program", _STEPS)
def test_a_wait_in_a_program_with_an_environment(directory: str, program: str) -> None:
    need("jax")
    script = (
        f"{ENVIRONMENT}{_FUNCTIONS}{_ENVIRONMENT}env.step(0)\n{program}\nenv.close()\n{program}"
    )
    found = names(record(directory, script, timeout=300))
    expected = _STEPS[program]
    assert found[-len(expected) - 1 :] == [END, *expected]


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
            " WHERE path = 'update:update' AND start_ns > ("
            "  SELECT min(start_ns) FROM operation_instance JOIN operation USING (operation_id)"
            "  WHERE path = 'simulation')"
        )
    assert found == pytest.approx(int(recorded.output), rel=0.1)
