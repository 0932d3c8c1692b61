"""TensorFlow and JAX: steps of training, compiled and not, are recorded as layer framework."""

from __future__ import annotations

import importlib.util
import subprocess

import pytest
from traced_python import TracedPython

from rlscope.load import load

pytestmark = pytest.mark.usefixtures("clean_environment")

_TENSORFLOW = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf, rlscope as rls
tf.random.set_seed(1)
x = tf.random.normal((16, 8))
weights = [tf.Variable(tf.random.normal((8, 8))), tf.Variable(tf.random.normal((8, 1)))]
optimizer = tf.keras.optimizers.Adam(1e-2)

def loss_of():
    return tf.reduce_mean((tf.tanh(x @ weights[0]) @ weights[1]) ** 2)

def eager():
    with tf.GradientTape() as tape:
        loss = loss_of()
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss

@tf.function
def compiled():
    with tf.GradientTape() as tape:
        loss = loss_of()
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.01 * gradient)
    return loss

for name, step in (("eager", eager), ("compiled", compiled)):
    step()
    with rls.operation(name):
        losses = [step() for _ in range(20)]
    print("loss", name, *(float(loss).hex() for loss in losses[-3:]))
"""
_JAX = """
import jax, jax.numpy as jnp, numpy as np, rlscope as rls
x = jnp.asarray(np.random.default_rng(1).normal(size=(16, 8)), dtype=jnp.float32)
weights = [jnp.ones((8, 8)) * 0.1, jnp.ones((8, 1)) * 0.1]

def loss_of(weights, x):
    return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1]) ** 2)

@jax.jit
def update(weights, x):
    loss, gradients = jax.value_and_grad(loss_of)(weights, x)
    return loss, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)

def compiled():
    global weights
    loss, weights = update(weights, x)
    return loss

def eager():
    return loss_of(weights, x)

for name, step in (("eager", eager), ("compiled", compiled)):
    step()
    with rls.operation(name):
        losses = [step() for _ in range(20)]
        losses[-1].block_until_ready()
    print("loss", name, *(float(loss).hex() for loss in losses[-3:]))
"""
# Module that must be installed, program, native calls a step makes at least.
FRAMEWORKS = {
    "tensorflow": ("tensorflow", _TENSORFLOW, {"eager": 20, "compiled": 1}),
    "jax": ("jaxlib", _JAX, {"eager": 2, "compiled": 1}),
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_training_step_is_layer_framework_and_computes_the_same(
    traced: TracedPython, directory: str, name: str
) -> None:
    module, program, least = FRAMEWORKS[name]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    command = [traced.python, "-c", program]
    plain = subprocess.run(command, capture_output=True, text=True, timeout=300)
    recorded = traced.run("-o", directory, *command, timeout=300)
    assert recorded.returncode == 0, recorded.stderr
    assert _losses(recorded.stdout) == _losses(plain.stdout)
    assert len(_losses(plain.stdout)) == 2
    for operation, calls in _calls(directory).items():
        assert calls >= 20 * least[operation], operation


def _losses(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("loss")]


def _calls(directory: str) -> dict[str, int]:
    with load(directory) as trace:
        rows = dict(
            trace.sql(
                "SELECT operation, SUM(calls)::BIGINT FROM native_call "
                "WHERE layer = 'framework' AND operation <> '(none)' GROUP BY operation"
            )
        )
    assert set(rows) == {"eager", "compiled"}
    return rows
