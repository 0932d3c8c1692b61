"""One entry into an operation that is unlike all others: a compilation, or a first search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration
from rlscope.analysis import finding_verdicts, lines, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    least_ns = finding_verdicts.least_once_ns(loop.run_ns)
    asked = {"process_id": loop.process_id, "least_ns": least_ns}
    for row in statement.run(trace, "findings/outlier_call", **asked).to_dicts():
        if not finding_verdicts.is_outlier(row):
            continue
        found = lines.operation_lines(trace, process_id=loop.process_id, operation=row["operation"])
        yield Finding(
            title=f"one {row['operation']} of {count(row['entries'])} takes "
            f"{duration(row['longest_ns'])}",
            evidence=f"It is number {count(row['place'])}. The median is "
            f"{duration(row['median_ns'])}.",
            evidence_sql=statement.shown("findings/outlier_call", **asked),
            fix="Let what happens once, such as compilation or a search for the fastest kernel, "
            "happen before the loop, or keep its result.",
            no_effect="No effect on a longer run, which pays it once, too.",
            once_ns=row["longest_ns"] - row["median_ns"],
            operation=row["operation"],
            # If it took most of the time, the hottest line is its own; else no line is known.
            **(lines.place_of(found) if verdicts.is_most(row["longest_ns"], row["sum_ns"]) else {}),
        )


RULE = Rule(_find)
