"""Environments that are too cheap for threads: to hand over a step takes longer than the step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration
from rlscope.analysis import groups, lines, prices, process_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from rlscope.relations.groups import SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/cheap_threads"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, SIMULATION)
    asked = {"process_id": loop.process_id, "operations": operations}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        if not process_verdicts.are_threads_slower(row):
            continue
        operation, stepped_ns = row["operation"], row["stepped_ns"]
        # Of what this thread does beside, at most half is still to be done.
        alone = Price(stepped_ns, 0.7 * stepped_ns, stepped_ns + row["work_ns"] / 2)
        yield Finding(
            title=f"{count(row['threads'])} threads step environments for {duration(stepped_ns)} "
            f"in all, and {operation} takes {duration(row['operation_ns'])}",
            evidence=f"{operation} waits {duration(row['wait_ns'])} for {count(row['steps'])} "
            "steps. One thread of Python runs at a time, and has to be woken for each.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Step the environments in this thread, in a plain loop, or in a few processes with "
            "several environments each.",
            no_effect="No effect where steps compute in native code for long, or wait for a "
            "device.",
            price=prices.exact(row["operation_ns"]).less(alone),
            operation=operation,
            **lines.place_of(
                lines.operation_lines(
                    trace, process_id=loop.process_id, operation=operation, layers=("wait",)
                )
            ),
        )


RULE = Rule(_find)
