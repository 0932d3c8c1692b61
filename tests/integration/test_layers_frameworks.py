"""TensorFlow and JAX: steps of training, compiled and not, are layer framework, and what they call
back on the host is layer python. make test-frameworks installs them.
"""

from __future__ import annotations

import subprocess

import pytest
from support.process.installed import need
from support.process.traced_python import TracedPython

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

_TENSORFLOW = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # or it says on some CPUs that results may differ
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
_KERAS = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # or it says on some CPUs that results may differ
import numpy as np, tensorflow as tf, rlscope as rls
tf.keras.utils.set_random_seed(1)
layers = [tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)]
model = tf.keras.Sequential(layers)
model.compile(optimizer="adam", loss="mse")
x = np.random.default_rng(1).normal(size=(32, 8)).astype("float32")
with rls.operation("fit"):
    history = model.fit(x, x[:, :1], batch_size=16, verbose=0, shuffle=False)
with rls.operation("predict"):
    predicted = model.predict_on_batch(x[:1])
print("loss fit", *(loss.hex() for loss in history.history["loss"]))
print("loss predict", float(predicted[0, 0]).hex())
"""
_CALLBACK = """
import time
import jax, jax.numpy as jnp, numpy as np, rlscope as rls

def busy(x):
    end_ns = time.thread_time_ns() + 25_000_000
    while time.thread_time_ns() < end_ns:
        pass
    return np.asarray(x) + 1

@jax.jit
def step(x):
    return jax.pure_callback(busy, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

x = jnp.zeros(4)
step(x).block_until_ready()
with rls.operation("callback"):
    step(x).block_until_ready()
"""
# Module that must be installed, program, native calls of each of its operations at least.
FRAMEWORKS = {
    "tensorflow": ("tensorflow", _TENSORFLOW, {"eager": 400, "compiled": 20}),
    "keras": ("tensorflow", _KERAS, {"fit": 20, "predict": 1}),
    "jax": ("jax", _JAX, {"eager": 40, "compiled": 20}),
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_training_step_is_layer_framework_and_computes_the_same(
    traced: TracedPython, directory: str, name: str
) -> None:
    module, program, least = FRAMEWORKS[name]
    need(module)
    command = [traced.python, "-c", program]
    plain = subprocess.run(command, capture_output=True, text=True, timeout=300)
    recorded = traced.run("--no-auto", "-o", directory, *command, timeout=300)
    assert recorded.returncode == 0, recorded.stderr
    assert _losses(recorded.stdout) == _losses(plain.stdout)
    assert len(_losses(plain.stdout)) == len(least)
    found = _calls(directory)
    assert found.keys() == least.keys()
    for operation, calls in found.items():
        assert calls >= least[operation], operation


def test_what_jax_calls_back_on_the_host_is_layer_python(
    traced: TracedPython, directory: str
) -> None:
    """The callback takes 25 ms of CPU time: it is a part of the operation that called it."""
    need("jax")
    done = traced.run("-o", directory, traced.python, "-c", _CALLBACK, timeout=300)
    assert done.returncode == 0, done.stderr
    with load(directory) as trace:
        layers = dict(
            trace.sql(
                "SELECT layer, SUM(duration_ns)::BIGINT FROM breakdown "
                "WHERE operation = 'callback' GROUP BY layer"
            )
        )
    assert layers["python"] >= 20_000_000
    assert layers["framework"] > 0


def _losses(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("loss")]


def _calls(directory: str) -> dict[str, int]:
    with load(directory) as trace:
        return dict(
            trace.sql(
                "SELECT operation, SUM(calls)::BIGINT FROM native_call "
                "WHERE layer = 'framework' AND operation <> '(none)' GROUP BY operation"
            )
        )
