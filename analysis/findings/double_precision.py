"""Networks compute with numbers of double precision, where single precision would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import (
    double_text,
    finding_verdicts,
    groups,
    learning_verdicts,
    lines,
    statement,
)
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import exact
from rlscope.relations.groups import INFERENCE, LEARNING

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/double_precision"
_GROUPS = (INFERENCE, LEARNING, "reference", "reward")
# What a call of a small linear layer takes, whatever its precision.
_CALL_NS = 6000
# Vector instructions take twice as many numbers of half the size, and memory does so, too.
_WON = (0.35, 0.5, 0.6)
# Convolutions took 3.1 to 4.5 times as long with their backward.
_OF_CONVOLUTIONS = (0.5, 0.72, 0.8)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    paths = (groups.paths_in(trace, loop.process_id, group) for group in _GROUPS)
    asked = {
        "process_id": loop.process_id,
        "operations": [path for found in paths for path in found],
        "call_ns": _CALL_NS,
    }
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    if not rows or not learning_verdicts.are_forwards_double(rows[0]):
        return
    arithmetic_ns = sum(row["arithmetic_ns"] for row in rows)
    convolutions_ns = sum(row["arithmetic_ns"] * row["convolutions"] for row in rows)
    layers = exact(arithmetic_ns - convolutions_ns).part(*_WON)
    price = layers.plus(exact(convolutions_ns).part(*_OF_CONVOLUTIONS))
    if not finding_verdicts.is_saving_notable(price.saving_ns, loop.loop_ns):
        return
    given = rows[0]["in_double"], rows[0]["in_double"] + rows[0]["in_others"]
    yield Finding(
        title="networks compute in double precision",
        evidence=f"{count(given[0])} of the first {count(given[1])} forwards were given float64. "
        f"The arithmetic of layers takes {duration(arithmetic_ns)}.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Make the networks and what they are given float32, which is the default of PyTorch.",
        no_effect="No effect where layers are small: a call takes as long in either precision.",
        price=price,
        operation=rows[0]["operation"],
        **_place(trace, loop, rows[0]["operation"]),
    )


def _place(trace: Trace, loop: Loop, operation: str) -> dict[str, Any]:
    """Where the text asks for the precision, or else where the operation takes longest."""
    place = double_text.asked_at(trace)
    if place is not None:
        return {"file": place[0], "line": place[1]}
    found = lines.operation_lines(trace, process_id=loop.process_id, operation=operation)
    return lines.place_of(found)


RULE = Rule(_find)
