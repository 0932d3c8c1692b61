"""The optimizer updates one parameter after the other, with several operators each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Experiment, Finding, Rule
from rlscope.analysis.function_time import FunctionTime, of_functions

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# The part of the update that the fix wins, as docs/reference/semantics.md, "Prices", has it.
_PARTS = {
    "adam": (0.75, 0.85, 0.92),
    "adamw": (0.75, 0.85, 0.92),
    "adagrad": (0.75, 0.85, 0.92),
    "sgd": (0.3, 0.6, 0.9),
}
"""Those that have fused."""
_OF_FOREACH = (0.2, 0.4, 0.55)
# An operator that each of these updates calls once for each parameter.
_ONCE = ("TensorBase.addcdiv_", "TensorBase.add_")


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, "findings/single_update", **asked).to_dicts():
        # There is a function of this name for each optimizer; foreach and fused have others.
        optimizer = row["optimizer"]
        found = of_functions(
            trace, loop, (rf".*/torch/optim/{optimizer}\.py:_single_tensor_[a-z_]+",)
        )
        if found is not None:
            yield _finding(trace, loop, optimizer, found)


def _finding(trace: Trace, loop: Loop, optimizer: str, found: FunctionTime) -> Finding:
    fix = "fused=True to the optimizer"
    if optimizer not in _PARTS:
        fix = "foreach=True to the optimizer, which has no fused"
    return Finding(
        title="the optimizer updates one parameter after the other, for "
        f"{share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in PyTorch's update of single "
        "tensors.",
        evidence_sql=found.evidence_sql,
        fix=f"Pass {fix}.",
        no_effect="Little effect where parameters are large: their arithmetic stays.",
        price=found.time.part(*_PARTS.get(optimizer, _OF_FOREACH)),
        experiment=_experiment(trace, loop, optimizer, found),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


def _experiment(trace: Trace, loop: Loop, optimizer: str, found: FunctionTime) -> Experiment | None:
    """So many tensors as an operator is called in each update, as large as its time says."""
    rows = statement.run(
        trace,
        "findings/repeated_call",
        process_id=loop.process_id,
        operations=[found.operation],
        apart=[],
    ).to_dicts()
    for row in rows:
        if row["function"].endswith(_ONCE) and row["calls"] >= row["entries"]:
            each_ns = row["duration_ns"] / row["calls"]
            tensors = round(row["calls"] / row["entries"])
            settings = {"optimizer": optimizer, "tensors": tensors, "each_ns": each_ns}
            return Experiment("optimizer_update", settings, found.time)
    return None


RULE = Rule(_find)
