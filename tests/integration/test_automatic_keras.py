"""Eager programs of TensorFlow and Keras: layers, tapes and optimizers outside of compiled code."""

from __future__ import annotations

import pytest
from automatic_programs import track
from installed import need
from recorded_child import record

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
"""
S, I, T, B = "simulation", "inference", "target", "backprop"  # noqa: E741


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_a_forward_of_keras_is_inference(directory: str, backend: str) -> None:
    need("tensorflow")
    need(backend)
    recorded = record(directory, _BEGIN.format(backend=backend), timeout=300)
    found = [name for name in track(recorded) if name != "compiled"]  # JAX compiles its functions
    assert found == [S, I, S]


def test_an_eager_program_of_tensorflow_has_all_operations(directory: str) -> None:
    need("tensorflow")
    recorded = record(directory, _BEGIN.format(backend="tensorflow") + _TAPE, timeout=300)
    assert track(recorded) == [S, I, S, T, B, B, I, S, I, S, B, I]
