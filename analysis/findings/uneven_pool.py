"""A pool gives some of its workers far more work than others, and the program waits for these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration
from rlscope.analysis import groups, lines, prices, process_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.relations.groups import SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/uneven_pool"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, SIMULATION)
    asked = {"process_id": loop.process_id, "operations": operations}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        longest_ns, mean_ns = row["longest_ns"], row["mean_ns"]
        if not process_verdicts.are_tasks_uneven(longest_ns, mean_ns):
            continue
        yield Finding(
            title=f"one of {count(row['workers'])} workers of a pool is busy for "
            f"{duration(longest_ns)}, and all for {duration(mean_ns)} in the mean",
            evidence=f"The program waits {duration(row['wait_ns'])} for them. A worker that takes "
            "the next task when it is done would work as long as the others.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Give the pool single tasks, the long ones first: chunksize=1, or imap_unordered.",
            no_effect="No effect where each round has one task for each worker.",
            price=prices.exact(row["wait_ns"] * (1 - mean_ns / longest_ns)).part(0.5, 0.95, 1.05),
            operation=row["operation"],
            **lines.place_of(
                lines.operation_lines(
                    trace,
                    process_id=loop.process_id,
                    operation=row["operation"],
                    layers=("wait",),
                )
            ),
        )


RULE = Rule(_find)
