"""Nested objects are copied, or written as text, one object after the other."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls
from rlscope.analysis.function_time import OBJECT_COPIES
from rlscope.analysis.source_code import Source


def _copies_objects(source: Source, line: int) -> bool:
    """Whether a line is none of rule state_copies."""
    return not source.copies_state(line)


RULE = of_calls(
    OBJECT_COPIES,
    title="copying nested objects, or making text of them, takes",
    what="functions that go through objects one by one (copy.deepcopy, json)",
    fix="Copy only the arrays that change (array.copy()), and make text of what is looked at only.",
    no_effect="No effect where each object changes before the next step, and all of them are kept.",
    with_lines=True,
    where=_copies_objects,
    part=(0.85, 1.0, 1.0),
)
