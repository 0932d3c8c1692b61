"""Texts are generated a few at a time, in a loop over prompts, where one call could write all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, share
from rlscope.analysis import brief_calls, groups, statement, training_lines
from rlscope.analysis.critical_loop import Loop, states
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, FunctionTime, of_functions
from rlscope.analysis.independent_passes import needs_earlier
from rlscope.analysis.own_loops import callers
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


# How many of the generations a batch of all takes as long as: at most, about, and at least.
_LIKE = (6, 2.5, 1)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, "generation")
    found = of_functions(trace, loop, NETWORKS, operations)
    if found is None or not brief_calls.are_brief_in(trace, loop, found.operation):
        return
    place, part = _looped_line(trace, loop, found), _part(trace, loop, found.operation)
    if place is None or not part[1]:
        return
    rows = states(trace, loop).to_dicts()
    time = exact(sum(row["duration_ns"] for row in rows if row["operation"] == found.operation))
    yield Finding(
        title=f"texts are generated a few at a time, for {share(time.saving_ns, loop.loop_ns)} of "
        "the loop",
        evidence=f"{count(found.readings)} readings of the loop's stack lie in it. The line stands "
        "in a loop that changes no network. An operator is so brief that its call costs more.",
        evidence_sql=found.evidence_sql,
        fix="Give the model the prompts of all passes in one batch, padded on the left.",
        no_effect="Little effect where the model is so large that its arithmetic takes the time.",
        price=time.part(*part),
        operation=found.operation,
        file=place[0],
        line=place[1],
    )


def _part(trace: Trace, loop: Loop, operation: str) -> tuple[float, float, float]:
    """What one batch wins of so many generations in a row: it takes as long as 1 to 6 of them."""
    asked = {"process_id": loop.process_id, "operation": operation}
    (row,) = statement.run(trace, "findings/entries_in_a_row", **asked).to_dicts()
    one = min(row["turns"] / max(row["entries"], 1), 1)
    low, value, high = (max(1 - each * one, 0) for each in _LIKE)
    return low, value, high


def _looped_line(trace: Trace, loop: Loop, found: FunctionTime) -> tuple[str, int] | None:
    """The line that leads to the model, in the first loop around it or around its callers that
    passes over whole generations. None: that loop trains."""
    for file, line in callers(trace, loop, found.file, found.line, found.operation):
        source = source_of(trace, file)
        place = source.loop_at(line)
        if place is None or source.is_chain(line) or needs_earlier(source, line):
            continue  # the loop over tokens
        return None if training_lines.are_training(trace, loop, file, place) else (file, line)
    return None


RULE = Rule(_find)
