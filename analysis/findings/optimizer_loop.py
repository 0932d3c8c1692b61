"""The optimizer updates one parameter after the other, with several operators each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis import statement
from rlscope.analysis.critical_loop import Loop, states
from rlscope.analysis.finding import Experiment, Finding, Rule
from rlscope.analysis.function_time import FunctionTime, of_functions
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# The part of the update that the fix wins, as docs/reference/semantics.md, "Prices", has it.
_OF_SGD = (0.3, 0.6, 0.9)
_OF_FOREACH = (0.2, 0.4, 0.55)
_WITH_MOMENTS = frozenset(("adagrad", "adam", "adamw"))
# An operator on a few numbers takes no longer than this. The two that are looked at are a third of
# the arithmetic, in updates of networks of 128 to 512 units.
_LEAST_NS = 3000
_ARITHMETIC = 3
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
        if found is None:
            continue
        # On a CPU, foreach goes through the tensors one by one, too: RMSprop became 10 % slower.
        if _has_fused(optimizer) or _calls_cuda(trace, loop, found.operation):
            yield _finding(trace, loop, optimizer, found)


def _has_fused(optimizer: str) -> bool:
    return optimizer in _WITH_MOMENTS or optimizer == "sgd"


def _calls_cuda(trace: Trace, loop: Loop, operation: str) -> bool:
    rows = states(trace, loop).to_dicts()
    return any((row["operation"], row["layer"]) == (operation, "cuda_api") for row in rows)


def _finding(trace: Trace, loop: Loop, optimizer: str, found: FunctionTime) -> Finding:
    fix = "fused=True to the optimizer"
    if not _has_fused(optimizer):
        fix = "foreach=True to the optimizer, which has no fused"
    if source_of(trace, found.file).calls_any(found.line, ("learn",)):
        given = fix.partition(" ")[0]
        fix += f", by policy_kwargs=dict(optimizer_kwargs=dict({given})) in Stable-Baselines3"
    return Finding(
        title="the optimizer updates one parameter after the other, for "
        f"{share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in PyTorch's update of single "
        f"tensors, called from {plural(len(found.places), 'line')} of the program.",
        evidence_sql=found.evidence_sql,
        fix=f"Pass {fix}.",
        no_effect="Little effect where parameters are large: their arithmetic stays.",
        price=found.time.part(*_part(trace, loop, optimizer, found)),
        experiment=_experiment(trace, loop, optimizer, found),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


def _part(
    trace: Trace, loop: Loop, optimizer: str, found: FunctionTime
) -> tuple[float, float, float]:
    """What the fix wins of an update: more, the less of it is arithmetic. Fused does that in one
    go through memory, which takes about half as long."""
    if optimizer not in _WITH_MOMENTS:
        return _OF_SGD if optimizer == "sgd" else _OF_FOREACH
    at = {"process_id": loop.process_id, "operation": found.operation}
    asked = {**at, "least_ns": _LEAST_NS}
    (row,) = statement.run(trace, "findings/update_arithmetic", **asked).to_dicts()
    arithmetic = min(_ARITHMETIC * row["arithmetic_ns"] / max(found.time.saving_ns, 1), 1)
    return 0.88 - 0.75 * arithmetic, 0.95 - 0.5 * arithmetic, 0.98 - 0.3 * arithmetic


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


RULE = Rule(_find, of_lines=True)
