"""Whether an operation calls functions of a framework so briefly that a call costs more than its
work: then one call with many inputs takes hardly longer than a call with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import finding_verdicts, statement

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace


def are_brief_in(trace: Trace, loop: Loop, operation: str) -> bool:
    """By the function that takes longest, of those that an entry calls again and again."""
    asked = {"process_id": loop.process_id, "operations": [operation], "apart": []}
    for row in statement.run(trace, "findings/repeated_call", **asked).to_dicts():
        if finding_verdicts.is_called_in_passes(row):
            return finding_verdicts.are_calls_brief(row)
    return False


def are_many_in(trace: Trace, loop: Loop, operation: str) -> bool:
    """Whether an entry calls some function so often, and so briefly, that Python goes through
    rows."""
    asked = {"process_id": loop.process_id, "operations": [operation], "apart": []}
    rows = statement.run(trace, "findings/repeated_call", **asked).to_dicts()
    return any(finding_verdicts.is_looped(row, updates_parameters=False) for row in rows)
