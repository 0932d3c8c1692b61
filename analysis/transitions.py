"""How often a program crosses between layers, and per iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_DESCRIPTIONS = {
    "operation": "path of the operation open at entry",
    "from_layer": "layer that was left",
    "to_layer": "layer that was entered",
    "count": "entries, over all processes",
    "per_iteration": "entries per complete iteration, added up over processes that have any",
}


def transitions(trace: Trace) -> Table:
    """operation, from_layer, to_layer, count, per_iteration: crossings, most frequent first."""
    rows = statement.run(trace, "transition_total")
    return Table(rows.columns, name="transitions", descriptions=_DESCRIPTIONS)


def process_transitions(trace: Trace, process_id: int) -> Table:
    """operation, from_layer, to_layer, per_iteration (None: no complete one): crossings in an
    iteration of one process."""
    return statement.run(trace, "process_transition", process=process_id)
