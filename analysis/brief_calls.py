"""Whether an operation calls functions of a framework so briefly that a call costs more than its
work: then one call with many inputs takes hardly longer than a call with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import finding_verdicts, groups, statement
from rlscope.relations.groups import EVALUATION, SIMULATION

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

STATEMENT = "findings/repeated_call"
# Share of the time of functions that are called less often than the network is.
_CALLED_LESS = 0.1


def asked(trace: Trace, loop: Loop, operation: str) -> dict[str, Any]:
    """What STATEMENT is asked with for an operation that calls networks."""
    apart = [
        path
        for group in (EVALUATION, SIMULATION)
        for path in groups.paths_in(trace, loop.process_id, group)
    ]
    return {"process_id": loop.process_id, "operations": [operation], "apart": apart}


def in_a_row(rows: Sequence[Mapping[str, Any]]) -> float:
    """How often an entry calls the network, from rows of STATEMENT. Where the run does not say how
    many forwards there were: as often as all functions are called, but for those of a tenth of the
    time. A network has many layers, and converts its result once."""
    if rows and rows[0]["passes"] is not None:
        return float(rows[0]["passes"] / max(rows[0]["entries"], 1))
    rest_ns = _CALLED_LESS * sum(row["duration_ns"] for row in rows)
    often = sorted((row["calls"] / max(row["entries"], 1), row["duration_ns"]) for row in rows)
    for calls, duration_ns in often:
        rest_ns -= duration_ns
        if rest_ns < 0:
            return float(calls)
    return 0.0


def are_brief_in(trace: Trace, loop: Loop, operation: str) -> bool:
    """By the function that takes longest, of those that an entry calls again and again."""
    of = {"process_id": loop.process_id, "operations": [operation], "apart": []}
    for row in statement.run(trace, STATEMENT, **of).to_dicts():
        if finding_verdicts.is_called_in_passes(row):
            return finding_verdicts.are_calls_brief(row)
    return False
