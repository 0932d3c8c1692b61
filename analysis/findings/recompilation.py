"""A function is compiled again and again, for each shape or value that it meets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration
from rlscope.analysis import finding_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/recompilation"
# TensorFlow's names of what a data set does with its rows. Rule data_set_calls speaks of these.
_OF_DATA_SETS = "Dataset_"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        if not finding_verdicts.is_compiled_again(row["late_count"]):
            continue
        if (row["function"] or "").startswith(_OF_DATA_SETS):
            continue
        again_ns = row["again_ns"]
        yield Finding(
            title=f"{row['compiler']} compiles {row['function']} {count(row['count'])} times",
            evidence=f"It takes {duration(row['total_ns'])} in all, "
            f"{duration(row['total_ns'] / row['count'])} each time, "
            f"{count(row['late_count'])} times after the first update.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Give it the same shapes each time (pad batches), or compile it for all shapes "
            "(dynamic=True).",
            no_effect="No effect once all shapes have been met: a longer run pays it once.",
            outside_ns=round(again_ns),
            price=Price(again_ns, again_ns * 0.8, again_ns),
            file=row["file"],
            line=row["line"],
        )


RULE = Rule(_find)
