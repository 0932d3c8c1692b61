"""A policy reads all of an episode again for each action: the later in the episode, the longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration
from rlscope.analysis import groups, learning_verdicts, own_loops, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, FunctionTime, of_functions
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import source_of
from rlscope.relations.groups import INFERENCE

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/growing_entry"
# Methods that a network is called by.
_CALLS = frozenset(("__call__", "forward"))


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    place = of_functions(trace, loop, NETWORKS, groups.paths_in(trace, loop.process_id, INFERENCE))
    if place is None:
        return
    asked = {"process_id": loop.process_id, "operation": place.operation}
    (row,) = statement.run(trace, _STATEMENT, **asked).to_dicts()
    if not learning_verdicts.do_entries_grow(row):
        return
    file, line = _caller(trace, loop, place)
    grown_ns = row["whole_ns"] - row["entries"] * row["first_ns"]
    yield Finding(
        title="each action of an episode takes longer than the one before",
        evidence=f"One in a hundred of {count(row['entries'])} entries into {place.operation} "
        f"takes {duration(row['first_ns'])} or less, and one in ten {duration(row['many_ns'])} or "
        "more: the network reads a sequence that grows.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Keep the network's state (the hidden state, or keys and values) from step to step, "
        "and give it only the newest observation.",
        no_effect="No effect where episodes are short. Other results where the network sees more "
        "than what came before.",
        price=exact(grown_ns).part(0.9, 1.15, 1.4).within(loop.loop_ns),
        operation=place.operation,
        file=file,
        line=line,
    )


def _caller(trace: Trace, loop: Loop, place: FunctionTime) -> tuple[str, int]:
    """The line outside of the network that asks it."""
    for file, line in own_loops.callers(trace, loop, place.file, place.line, place.operation):
        function = source_of(trace, file).function_node(line)
        if function is None or function.name not in _CALLS:
            return file, line
    return place.file, place.line


RULE = Rule(_find)
