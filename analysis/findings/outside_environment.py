"""The environment is a program of its own, and each step is a message to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import finding_verdicts, groups, lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import calls_beside
from rlscope.analysis.prices import Price
from rlscope.relations.groups import SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/outside_environment"
# What a message there and one back cost, with two changes of process.
_MESSAGES = Price(100_000, 30_000, 200_000)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "operations": groups.paths_in(trace, loop.process_id, SIMULATION),
    }
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts()[:1]:
        if not finding_verdicts.are_readings_enough(row["steps"]):
            continue
        found = lines.operation_lines(
            trace, process_id=loop.process_id, operation=row["operation"], layers=("wait",)
        )
        yield Finding(
            title=f"each step sends a message to {row['program']}",
            evidence=f"{row['operation']} waits {duration(row['wait_ns'])} for it, in "
            f"{count(row['steps'])} messages.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Load the environment into this process, or let a message carry several steps or "
            "environments.",
            no_effect="No effect where the other program works for most of a step.",
            price=_MESSAGES.times(row["steps"])
            .within(row["wait_ns"])
            .plus(_talking(trace, loop, found, row["operation"])),
            operation=row["operation"],
            **lines.place_of(found),
        )


def _talking(
    trace: Trace, loop: Loop, waiting: Sequence[Mapping[str, Any]], operation: str
) -> Price:
    """Python's time in the function that waits: it makes and reads the messages."""
    if not waiting:
        return Price(0, 0, 0)
    place = waiting[0]["file"], waiting[0]["line"]
    return calls_beside(trace, loop, place, None, [operation]).part(0.3, 0.9, 1.0)


RULE = Rule(_find)
