"""What the JAX workloads share: networks, and an Adam that is a pair of functions.

adam = new_adam(weights)
weights, adam = step(adam, weights, gradients, rate=1e-3)
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from rlscope.workloads import training_run


@dataclass
class JaxArgs:
    device: Literal["cpu", "cuda"] = "cpu"
    """where everything is computed; networks this small are faster on a CPU"""


def run_training(algorithm: str, args: Any, trainer_of: Callable[[Any], Any]) -> None:
    """Trains and prints how well and how fast."""
    jax.config.update("jax_platforms", args.device)
    try:
        jax.devices()
    except (AssertionError, RuntimeError):  # the first of these without a plugin for it
        sys.exit(f"--device {args.device} cannot be used: JAX finds none")
    training_run.run_training(algorithm, args, trainer_of)


class Adam(NamedTuple):
    """What Adam remembers: how many steps there were, and moments shaped like the weights."""

    steps: Any
    first: Any
    second: Any


def new_adam(weights: Any) -> Adam:
    """Before the first step; `weights` is any tree of arrays."""
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return Adam(jnp.zeros((), jnp.int32), zeros, zeros)


def step(
    adam: Adam, weights: Any, gradients: Any, rate: Any, epsilon: float = 1e-8
) -> tuple[Any, Adam]:
    """Kingma and Ba 2015 (arXiv:1412.6980), algorithm 1: weights and Adam after one step."""
    beta1, beta2 = 0.9, 0.999
    steps = adam.steps + 1
    first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, adam.first, gradients)
    second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, adam.second, gradients)

    def moved(weight: Any, m: Any, v: Any) -> Any:
        root = jnp.sqrt(v / (1 - beta2**steps)) + epsilon
        return weight - rate * m / (1 - beta1**steps) / root

    return jax.tree.map(moved, weights, first, second), Adam(steps, first, second)


def perceptron(weights: Any, inputs: Any, activation: Any = jax.nn.relu) -> Any:
    """Two hidden layers; `weights` are as in initial_weights."""
    hidden = activation(inputs @ weights[0] + weights[1])
    hidden = activation(hidden @ weights[2] + weights[3])
    return hidden @ weights[4] + weights[5]


def follow(slow: Any, fast: Any, tau: float) -> Any:
    """The slow weights, moved by this part of their way to the fast ones."""
    return jax.tree.map(lambda behind, ahead: behind + tau * (ahead - behind), slow, fast)
