"""The optimizer updates one parameter after the other, with several operators each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# torch.optim has a function of this name for each optimizer; foreach and fused have others.
_SINGLE = (r".*/torch/optim/[a-z_]+\.py:_single_tensor_[a-z_]+",)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, _SINGLE)
    if found is None:
        return
    yield Finding(
        title="the optimizer updates one parameter after the other, for "
        f"{share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in PyTorch's update of single "
        "tensors.",
        evidence_sql=found.evidence_sql,
        fix="Pass fused=True to the optimizer, or foreach=True if it has no fused.",
        no_effect="Little effect where parameters are large: their arithmetic stays.",
        price=found.time.part(0.6, 0.85, 0.95),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


RULE = Rule(_find)
