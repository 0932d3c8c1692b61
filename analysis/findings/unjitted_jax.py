"""Functions of JAX run one by one, from Python, where jax.jit would compile them together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_rule import of_calls
from rlscope.analysis.function_time import KERAS_LAYERS, of_functions

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_CALLS = of_calls(
    # Their Python runs in compiled code only while it is traced, which is a compilation.
    (
        r".*/jax/_src/numpy/(array_creation|array_methods|indexing|lax_numpy|reductions)\.py:.*",
        r".*/jax/_src/numpy/(ufunc_api|ufuncs)\.py:.*",
        r".*/jax/_src/array\.py:ArrayImpl\.__(getitem|iter)__",
        r".*/jax/_src/(random|prng)\.py:.*",
        r".*/jax/_src/random/\w+\.py:.*",
        r".*/jax/_src/nn/functions\.py:.*",
        r".*/jax/_src/custom_derivatives\.py:.*",
        r".*/jax/_src/api\.py:(grad|hessian|jac\w+|linearize|value_and_grad|vjp|vmap)\.<locals>\..*",
        r".*/optax/.*",
        r".*/flax/linen/module\.py:Module\.apply",
        r".*/haiku/_src/transform\.py:.*apply_fn",
    ),
    title="functions of JAX run one by one, outside of jax.jit, for",
    what="functions of jax.numpy, jax.random, jax.nn, gradients, optimizers or networks that are "
    "not compiled",
    fix="Put what calls several of them, such as the policy or the training step, into a function "
    "for jax.jit.",
    no_effect="No effect where shapes change each time: each shape is compiled anew.",
    # A policy of two layers of 64 units took 32 % of the time so, with what converts around it. A
    # loop that split keys and drew actions outside of its policy won 1.3 times as much.
    part=(0.5, 0.85, 1.15),
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for finding in _CALLS.find(trace, loop):
        # Keras's layers have a rule of their own.
        if of_functions(trace, loop, KERAS_LAYERS) is None:
            yield finding


RULE = Rule(_find, of_lines=True)
