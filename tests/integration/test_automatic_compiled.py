"""Compiled functions of TensorFlow and JAX: operations of their own, until the process has stepped
an environment; then inference, or an update. They stay what they are."""

from __future__ import annotations

from typing import Any

import pytest
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load

_ENVIRONMENT = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # or it says on some CPUs that results may differ
import rlscope.auto
{begin_early}
import gymnasium

class Env(gymnasium.Env):
    def step(self, action):
        return 0, 0.0, False, False, {{}}

env = Env()
"""
_JAX = """
import copy, inspect, pickle
import jax, jax.numpy as jnp

@jax.jit
def act(x):
    return x + 1

update = jax.jit(lambda x: inner(x) * 2)
inner = jax.jit(jnp.sin)

def steps(x):
    env.step(0)
    return x

collect = jax.jit(lambda x: jax.pure_callback(steps, x, x))
{begin_late}
x = jnp.ones(3)
for _ in range(3):
    act(x).block_until_ready()
    update(x)
jnp.exp(x)  # a compiled function, of JAX's own
collect(x).block_until_ready()
for broken in (1, "x"):
    try:
        act(broken)
    except TypeError:
        pass
assert str(inspect.signature(act)) == "(x)" and act.__name__ == "act"
assert type(act) is type(update) and act.lower(x) is not None
assert copy.copy(act)(x).tolist() == [2, 2, 2]
"""
_TENSORFLOW = """
import inspect
import tensorflow as tf

@tf.function
def act(x):
    return x + 1

@tf.function
def inner(x):
    env.step(0)  # while it is traced
    return x * 2

@tf.function
def update(x):
    return inner(x)

class Agent:
    @tf.function
    def learn(self, x):
        return x
{begin_late}
x = tf.ones(3)
for _ in range(3):
    act(x)
    update(x)
Agent().learn(x)
try:
    act()
except TypeError:
    pass
assert inspect.isfunction(type(act).__call__)
assert act.get_concrete_function(x)(x).numpy().tolist() == [2, 2, 2]
"""
_RULES = {"jax": "jax.jit", "tensorflow": "tf.function"}
_PROGRAMS = {"jax": _JAX, "tensorflow": _TENSORFLOW}
_EXPECTED = {
    # A call that compiles is in two parts: one before, and one behind that. In JAX each of the two
    # functions is also waited for.
    "jax": {"compiled:act": 5 + 3 + 2 + 1, "compiled:<lambda>": 4 + 2 + 1},
    "tensorflow": {"compiled:act": 4 + 1, "compiled:update": 3 + 1, "compiled:learn": 1 + 1},
}


@pytest.mark.parametrize("early", [True, False], ids=["before the import", "after it"])
@pytest.mark.parametrize("library", _PROGRAMS)
def test_compiled_functions_have_names_of_their_own(
    directory: str, library: str, early: bool
) -> None:
    need(library)
    begin = "rlscope.auto.begin()"
    script = _ENVIRONMENT.format(begin_early=begin * early) + _PROGRAMS[library].replace(
        "{begin_late}", begin * (not early)
    )
    record(directory, script, timeout=300)  # TensorFlow takes a quarter of a minute to import
    found = _automatic(directory)
    compilations, _ = found.pop("compilation")  # of JAX's own functions too
    assert compilations > 3 if library == "jax" else compilations == 3
    assert {name: count for name, (count, _) in found.items()} == _EXPECTED[library]
    rules = {rule for name, (_, rule) in found.items() if name.startswith("compiled:")}
    assert len(rules) == 1 and _RULES[library] in rules.pop()


_JAX_LOOP = """
import jax, jax.numpy as jnp

@jax.jit
def act(x):
    return x + 1

@jax.jit
def update(w, x):
    value, slope = jax.value_and_grad(lambda w: ((w * x) ** 2).sum())(w)
    return w - 0.1 * slope

x = w = jnp.ones(3)
for step in range(12):
    env.step(act(x))
    if step % 4 == 3:
        w = update(w, x)
slope = jax.grad(lambda w: (w * x).sum())(w)
env.step(0)
env.step(0)
"""
_TENSORFLOW_LOOP = """
import tensorflow as tf

@tf.function
def act(x):
    return x + 1

@tf.function
def update(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w * x) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))

x, w = tf.ones(3), tf.Variable(tf.ones(3))
for step in range(12):
    env.step(act(x))
    if step % 4 == 3:
        update(x)
env.step(0)
"""
# The first begins with the first step of the environment, each other one behind gradients.
_LOOPS = {"jax": (_JAX_LOOP, 4), "tensorflow": (_TENSORFLOW_LOOP, 4)}


@pytest.mark.parametrize("library", _LOOPS)
def test_gradients_in_a_compiled_function_make_it_an_update(directory: str, library: str) -> None:
    """And end an iteration. A function that a step of the environment follows is inference."""
    need(library)
    script, expected = _LOOPS[library]
    begin = _ENVIRONMENT.format(begin_early="rlscope.auto.begin()")
    record(directory, begin + script, timeout=300)
    with load(directory) as trace:
        ((count,),) = trace.sql("SELECT COUNT(*) FROM iteration WHERE source = 'automatic'")
    assert count == expected
    found = _automatic(directory)
    # The first action comes before the first step, and the first update is traced.
    assert found["inference"][0] == 11
    assert found["update:update"][0] == 2
    assert found["backprop"][0] >= 1
    assert _RULES[library] in found["update:update"][1]
    assert _RULES[library] in found["inference"][1]


_FOLLOW = """
slow = tf.Variable(tf.ones(3))

@tf.function
def follow():
    slow.assign(0.9 * slow + 0.1 * w)

for _ in range(4):
    env.step(act(x))
    update(x)
    follow()
env.step(0)
"""


def test_a_compiled_function_that_returns_nothing_goes_on_with_the_update(directory: str) -> None:
    """It is no inference, from its second call on, when that is known."""
    need("tensorflow")
    script = _ENVIRONMENT.format(begin_early="rlscope.auto.begin()") + _TENSORFLOW_LOOP + _FOLLOW
    record(directory, script, timeout=300)
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT path FROM operation_instance JOIN operation USING (operation_id)"
            " WHERE path IN ('simulation', 'inference', 'update:update', 'backprop')"
            " ORDER BY start_ns"
        )
        names = [path for (path,) in rows]
    cycle = ["inference", "simulation", "update:update", "backprop"]
    assert names[-13:] == [*cycle * 3, "simulation"]


def test_what_jax_compiles_inside_a_function_is_one_instance(directory: str) -> None:
    need("jax")
    first = "import jax, numpy\nx = jax.device_put(numpy.ones(3))\n"
    script = "act = jax.jit(lambda x: x * 2 + 1)\nfor _ in range(3): act(x)\n"
    begin = _ENVIRONMENT.format(begin_early="rlscope.auto.begin()")
    record(directory, begin + first + script, timeout=300)
    found = {name: count for name, (count, _) in _automatic(directory).items()}
    assert found == {"compiled:<lambda>": 4, "compilation": 1}


def _automatic(directory: str) -> dict[str, tuple[int, Any]]:
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT path, COUNT(*) AS instances, rule"
            " FROM operation JOIN operation_instance USING (operation_id)"
            " WHERE source = 'automatic' AND path <> 'import' GROUP BY path, rule"
        )
        return {path.replace("\\/", "/"): (count, rule) for path, count, rule in rows}
