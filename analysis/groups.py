"""Operations by their part in the algorithm: simulation, inference, learning.

docs/reference/semantics.md ("Shares in the report") has the rule.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rlscope.analysis import operations
from rlscope.analysis.operations import BETWEEN, OUTSIDE
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.trace.trace import Trace

BETWEEN_OPERATIONS = "between operations"

_EVALUATION = "evaluation"
_NAMES = {
    _EVALUATION: "evaluation evaluate eval validation validate",
    "simulation": "simulation simulate simulator env_step env.step environment env physics",
    "inference": "inference infer act predict policy select_action sample_action",
    "learning": "learning learn backprop backward forward loss optimizer optimiser optimize"
    " optimizer_step gradient gradients update train_step training_step",
}
GROUPS = tuple(_NAMES)
_GROUP_OF = {name: group for group, names in _NAMES.items() for name in names.split()}
# Part of whatever encloses it: inference has a forward pass as well as learning.
_FORWARD = "forward"
_EVERY = 1 << 31
_SLASH = re.compile(r"(?<!\\)(?:\\\\)*/")


def group_of(path: str) -> str:
    """The group of an operation by its path.

    >>> group_of("train/backprop"), group_of("inference/forward"), group_of("rollout")
    ('learning', 'inference', 'rollout')
    """
    if path in (BETWEEN, OUTSIDE):
        return BETWEEN_OPERATIONS
    names = [name.lower().partition(":")[0] for name in _SLASH.split(path)]
    known = [name for name in names if name in _GROUP_OF]
    if any(_GROUP_OF[name] == _EVALUATION for name in known):
        return _EVALUATION
    enclosing = [name for name in known if name != _FORWARD]
    if enclosing and known[-1] == _FORWARD:
        return _GROUP_OF[enclosing[-1]]
    return _GROUP_OF[known[-1]] if known else path


def group_time(trace: Trace) -> Table:
    """group, operation, layer, gpu_busy, duration_ns, operation_ns, group_ns, whole_ns: wall time
    in the training loops, of all processes that count in shares; the largest group and
    in it the largest operation first. Shares are of whole_ns."""
    rows = operations.operation_time(trace, operations=_EVERY, processes=0).to_dicts()
    sums: dict[str, int] = {}
    for row in rows:
        row["whole_ns"] = row.pop("group_ns")
        row["group"] = group_of(row["operation"])
        sums[row["group"]] = sums.get(row["group"], 0) + row["duration_ns"]
    for row in rows:
        row["group_ns"] = sums[row["group"]]
    rows.sort(key=lambda row: (-row["group_ns"], row["group"]))  # in a group as they were
    names = ("group", "operation", "layer", "gpu_busy", "duration_ns", "operation_ns", "group_ns")
    columns = {name: [row[name] for row in rows] for name in (*names, "whole_ns")}
    return Table(columns, name="group_time")
