"""The loop waits for a disk, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration, share
from rlscope.analysis import statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/disk_wait"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts()[:1]:
        if not verdicts.are_readings_enough(row["count"]):
            continue
        wait_ns = row["wait_ns"]
        yield Finding(
            title=f"the loop waits for the disk for {share(wait_ns, loop.loop_ns)} of its time",
            evidence=f"{count(row['count'])} calls of {row['function']} take {duration(wait_ns)}.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Write less often: keep rows in memory and flush them once in many steps, or in a "
            "thread.",
            no_effect="No effect where each row must survive a crash.",
            price=Price(wait_ns, 0.9 * wait_ns, wait_ns),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )


RULE = Rule(_find)
