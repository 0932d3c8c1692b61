"""The environment takes most of the loop, in the process that learns: workers would share it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import groups, lines, prices, statement, verdicts
from rlscope.analysis.critical_loop import Loop, spread
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from rlscope.relations.groups import SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What a step of a vector in worker processes costs beside the environments' own steps: a message
# there and one back, and at worst twice that (docs/reference/semantics.md, "Prices").
_ROUND_TRIP_NS = 150_000


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "operations": groups.paths_in(trace, loop.process_id, SIMULATION),
    }
    rows = statement.run(trace, "findings/environment_bound", **asked).to_dicts()
    for row in rows[:1]:
        if not verdicts.is_most(row["work_ns"], loop.loop_ns):
            continue
        price = _price(row, prices.of_spread(spread(trace, loop, operation=row["operation"])))
        if price.saving_ns > 0:
            yield Finding(
                title=f"the environment takes {share(row['work_ns'], loop.loop_ns)} of the loop",
                evidence=f"{count(row['steps'])} entries into {row['operation']} work for "
                f"{duration(row['work_ns'])}, in the process that learns.",
                evidence_sql=statement.shown("findings/environment_bound", **asked),
                fix="Make a step cheaper, or step several environments at once in worker processes "
                f"(AsyncVectorEnv): {row['cores']} share the work.",
                no_effect="No effect where a step takes less time than a message to a worker.",
                price=price,
                operation=row["operation"],
                **lines.place_of(
                    lines.operation_lines(
                        trace,
                        process_id=loop.process_id,
                        operation=row["operation"],
                        layers=("python", "simulator", "framework"),
                    )
                ),
            )


def _price(row: dict[str, Any], work: Price) -> Price:
    """The limit of vectorising: so many cores share the work, and each step sends messages."""
    shared = 1 - 1 / max(row["cores"] or 1, 1)
    messages_ns = row["steps"] * _ROUND_TRIP_NS
    return work.times(shared).less(Price(messages_ns, 0, 2 * messages_ns))


RULE = Rule(_find)
