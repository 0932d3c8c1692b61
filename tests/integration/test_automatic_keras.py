"""Eager programs of TensorFlow and Keras: layers, tapes and optimizers outside of compiled code."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from support.process.automatic_programs import names, track
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load

_BEGIN = """
import os, warnings
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["KERAS_BACKEND"] = {backend!r}
warnings.simplefilter("ignore")
import rlscope.auto
rlscope.auto.begin()
import gymnasium, inspect, keras, numpy

env = gymnasium.make("CartPole-v1")
inputs = keras.Input(shape=(4,))  # calls of layers that only build the model
model = keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Dense(8)(inputs)))
x = numpy.ones((1, 4), dtype="float32")
env.reset(seed=1)
model(x)
env.step(0)
"""
_TAPE = """
import tensorflow as tf

optimizer = keras.optimizers.Adam()

def learn(target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((model(x) - target) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

learn(model(x))  # a target network, without a tape
learn(0.0)
model(x)
env.step(0)
with tf.GradientTape() as tape:  # a policy gradient: the environment steps while the tape is open
    y = model(x)
    env.step(0)
    loss = tf.reduce_sum(y)
optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
assert inspect.isfunction(keras.Layer.__call__) and model(x).shape == (1, 2)
held = env.step(0)  # else an array of weights may get the address of the observation
learn(0.0)
env.close()  # interrupts the update, which goes on
model.set_weights(model.get_weights())
"""
_TORCH = """
import torch

optimizer = keras.optimizers.Adam()
x = torch.ones((1, 4))

def learn(target):
    model.zero_grad()
    loss = ((model(x) - target) ** 2).sum()
    loss.backward()
    gradients = [weight.value.grad for weight in model.trainable_weights]
    with torch.no_grad():
        optimizer.apply(gradients, model.trainable_weights)

with torch.no_grad():
    target = model(x)
learn(target)
learn(0.0)
with torch.no_grad():
    model(x)
env.step(0)
model.compile(optimizer="sgd", loss="mse")
model.fit(x, torch.zeros((1, 2)), verbose=0)
env.step(0)
"""
S, I, A, B = "simulation", "inference", "advantage", "backprop"  # noqa: E741


_CONVERSIONS = """
def steps(convert):
    obs, *_ = env.step(0)
    model(convert(obs))
    env.step(0)

for _ in range(2):  # what is compiled for the first time interrupts an inference
"""
_KERAS_OWN = "    steps(lambda obs: keras.ops.expand_dims(keras.ops.convert_to_tensor(obs), 0))\n"
_BACKENDS_OWN = {
    "tensorflow": """
    import tensorflow as tf
    steps(lambda obs: tf.cast(tf.expand_dims(tf.convert_to_tensor(obs), 0), tf.float32))
    steps(lambda obs: tf.reshape(tf.constant(obs), (1, -1)))
""",
    "jax": """
    import jax, jax.numpy as jnp
    steps(lambda obs: jnp.expand_dims(jnp.asarray(obs), 0))
    steps(lambda obs: jnp.reshape(jax.device_put(obs), (1, -1)))
""",
}


@pytest.mark.parametrize("backend", _BACKENDS_OWN)
def test_the_conversion_of_an_observation_is_inference(directory: str, backend: str) -> None:
    need("tensorflow")
    need(backend)
    script = _BEGIN + _CONVERSIONS + _KERAS_OWN + _BACKENDS_OWN[backend]
    recorded = record(directory, script.format(backend=backend), timeout=300)
    casts = {"tensorflow": [I], "jax": []}[backend]
    expected = [*[S, I, I, I, S], *[S, I, I, *casts, I, S], *[S, I, I, I, S]]
    found = [name for name in track(recorded) if name]
    assert found[-len(expected) :] == expected


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_a_forward_of_keras_is_inference(directory: str, backend: str) -> None:
    need("tensorflow")
    need(backend)
    recorded = record(directory, _BEGIN.format(backend=backend), timeout=300)
    # JAX calls functions that it compiles, and the inference goes on after each.
    found = [name for name in track(recorded) if name in (S, I, A, B)]
    assert [name for name, _ in itertools.groupby(found)] == [S, I, S]


def test_an_eager_program_of_tensorflow_has_all_operations(directory: str) -> None:
    need("tensorflow")
    recorded = record(directory, _BEGIN.format(backend="tensorflow") + _TAPE, timeout=300)
    assert track(recorded) == [S, I, S, A, B, B, I, S, I, S, B, I, S, B, B]


def test_an_eager_program_of_keras_on_pytorch_has_all_operations(directory: str) -> None:
    need("tensorflow")
    recorded = record(directory, _BEGIN.format(backend="torch") + _TORCH, timeout=300)
    assert track(recorded) == [S, I, S, A, B, B, I, S, S]
    # `fit` is an update, with all that is in it.
    assert [name for name in names(recorded) if name != "import"][-3:] == [S, "update", S]


_WITHOUT_KERAS = """
import tensorflow as tf

w = tf.Variable(tf.ones((4, 2)))
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, w) ** 2)
    w.assign_sub(1e-3 * tape.gradient(loss, w))
    env.step(0)
"""


def test_a_tape_without_layers_is_backprop_by_itself(directory: str) -> None:
    """And so says its rule: no forward precedes it, and no step of an optimizer follows."""
    need("tensorflow")
    recorded = record(directory, _BEGIN.format(backend="tensorflow") + _WITHOUT_KERAS, timeout=300)
    assert track(recorded) == [S, I, S, B, S, B, S]
    with load(directory) as trace:
        ((rule,),) = trace.sql("SELECT rule FROM operation WHERE path = 'backprop'")
    assert ", or else from the backward, " in rule
    assert " to the end of the last optimizer step" in rule


_APART = """
model.compile(optimizer="sgd", loss="mse")
y = numpy.zeros((1, 2), dtype="float32")
model.fit(x, y, verbose=0)
model.evaluate(x, y, verbose=0)
model.save({path!r})
again = keras.models.load_model({path!r})
again.save_weights({weights!r})
again.load_weights({weights!r})
"""
_CHECKPOINT = """
import tensorflow as tf
checkpoint = tf.train.Checkpoint(w=tf.Variable(1.0))
checkpoint.restore(checkpoint.save({checkpoint!r}))
"""


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_keras_evaluates_saves_and_loads(directory: str, backend: str) -> None:
    need("tensorflow")
    need(backend)
    folder = Path(directory).parent
    paths = {"path": "m.keras", "weights": "w.weights.h5", "checkpoint": "tf"}
    script = _BEGIN + _APART + (_CHECKPOINT if backend == "tensorflow" else "")
    files = {name: str(folder / path) for name, path in paths.items()}
    record(directory, script.format(backend=backend, **files), timeout=300)
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT path, COUNT(*) AS times FROM operation JOIN operation_instance"
            " USING (operation_id) WHERE path IN ('evaluation', 'saving', 'loading') GROUP BY ALL"
        ).to_dicts()
    more = backend == "tensorflow"
    expected = {"evaluation": 1, "saving": 2 + more, "loading": 2 + more}
    assert {row["path"]: row["times"] for row in rows} == expected
