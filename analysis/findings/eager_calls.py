"""TensorFlow, or Keras on JAX, runs the operators of networks one by one, from Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import KERAS_LAYERS, of_functions

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Python's frames of compiled code are there only while it is traced, which is a compilation.
_CALLS = (
    *KERAS_LAYERS,
    r".*keras/src/optimizers/.*:(Base)?Optimizer\.apply(_gradients)?",
    r".*tensorflow/python/eager/backprop\.py:GradientTape\.(gradient|jacobian|batch_jacobian)",
)
_TORCH = (r".*keras/src/backend/torch/.*",)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    calls = of_functions(trace, loop, _CALLS)
    if calls is None or of_functions(trace, loop, _TORCH) is not None:
        return
    yield Finding(
        title="operators of Keras or TensorFlow run one by one for "
        f"{share(calls.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{calls.readings} readings of the loop's stack lie in layers, gradients and "
        f"optimizers that are not compiled, called from {plural(len(calls.places), 'line')} of the "
        "program.",
        evidence_sql=calls.evidence_sql,
        fix="Call the network, and make the update, in functions that tf.function (or jax.jit) "
        "compiles. tf.function(model) does it for a call alone.",
        no_effect="Little effect where networks are large, or where shapes change each time.",
        # Networks of 24 to 400 units: calls of one row won 81 % to 93 %, updates 87 % to 97 %.
        price=calls.time.part(0.6, 0.88, 0.96),
        operation=calls.operation,
        file=calls.file,
        line=calls.line,
    )


RULE = Rule(_find, of_lines=True)
