"""The optimizer updates one parameter after the other, with several operators each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import FunctionTime, of_functions

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


@dataclass(frozen=True)
class _Kind:
    """Optimizers of PyTorch with the same advice, and the part of their update that it wins."""

    optimizers: str
    """A regular expression of the files that they are in."""
    fix: str
    part: tuple[float, float, float]


_FUSED = "Pass fused=True to the optimizer."
# docs/reference/semantics.md, "Prices", has the measurements.
_KINDS = (
    _Kind("(adam|adamw|adagrad)", _FUSED, (0.75, 0.85, 0.92)),
    _Kind("sgd", _FUSED, (0.3, 0.6, 0.9)),
    _Kind(
        "(adadelta|adamax|asgd|nadam|radam|rmsprop|rprop)",
        "Pass foreach=True to the optimizer, which has no fused.",
        (0.2, 0.4, 0.55),
    ),
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for kind in _KINDS:
        # There is a function of this name for each optimizer; foreach and fused have others.
        single = (rf".*/torch/optim/{kind.optimizers}\.py:_single_tensor_[a-z_]+",)
        found = of_functions(trace, loop, single)
        if found is not None:
            yield _finding(loop, kind, found)


def _finding(loop: Loop, kind: _Kind, found: FunctionTime) -> Finding:
    return Finding(
        title="the optimizer updates one parameter after the other, for "
        f"{share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in PyTorch's update of single "
        "tensors.",
        evidence_sql=found.evidence_sql,
        fix=kind.fix,
        no_effect="Little effect where parameters are large: their arithmetic stays.",
        price=found.time.part(*kind.part),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


RULE = Rule(_find)
