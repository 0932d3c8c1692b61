"""Texts are generated a few at a time, in a loop over prompts, where one call could write all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, share
from rlscope.analysis import brief_calls, groups, training_lines
from rlscope.analysis.critical_loop import Loop, states
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, FunctionTime, of_functions
from rlscope.analysis.independent_passes import needs_earlier
from rlscope.analysis.own_loops import callers
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, "generation")
    found = of_functions(trace, loop, NETWORKS, operations)
    if found is None or not brief_calls.are_brief_in(trace, loop, found.operation):
        return
    place = _looped_line(trace, loop, found)
    if place is None:
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
        price=time.part(0.3, 0.6, 0.85),
        operation=found.operation,
        file=place[0],
        line=place[1],
    )


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
