"""Threads hand items to each other one by one, and wait for each other meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/thread_handoff"
_HANDS = frozenset("acquire get join notify popleft put release result set submit wait".split())


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        waited_ns = row["waited_ns"]
        if row["threads"] < 2 or not finding_verdicts.are_handoffs_many(
            waited_ns, row["locks_ns"], row["waits"], loop.loop_ns
        ):
            continue
        yield Finding(
            title="threads hand work to each other, and nobody works for "
            f"{share(waited_ns, loop.loop_ns)} of the loop meanwhile",
            evidence=f"They wait {count(row['waits'])} times for locks, "
            f"{duration(row['locks_ns'])} in all.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Hand over many items at once, such as a list of 64, or let one thread do both.",
            no_effect="No effect where a thread needs each item at once.",
            # A thread that wakes another one also works for that, and its caches are cold.
            price=exact(waited_ns).part(0.7, 1.5, 2.2).within(loop.loop_ns),
            **_place(trace, loop),
        )


def _place(trace: Trace, loop: Loop) -> dict[str, Any]:
    """The line that hands over or takes, and waits longest; else any that waits."""
    waiting = lines.operation_lines(trace, process_id=loop.process_id, layers=("wait",))
    hands = [row for row in waiting if source_of(trace, row["file"]).calls_any(row["line"], _HANDS)]
    return lines.place_of(hands or waiting)


RULE = Rule(_find)
