"""A line of the program that takes a notable part of the run before the loop begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration
from rlscope.analysis import lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Imports, and what is compiled, have rules of their own.
_OPERATION = "(none)"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked: dict[str, Any] = {
        "process_id": loop.process_id,
        "operation": _OPERATION,
        "layers": [],
        "stage": "start-up",
    }
    for row in lines.operation_lines(trace, **asked)[:1]:
        yield Finding(
            title=f"one line takes {duration(row['own_ns'])} before the loop begins",
            evidence=f"Its 95 % interval is {duration(row['own_low_ns'])} to "
            f"{duration(row['own_high_ns'])}.",
            evidence_sql=statement.shown("operation_line", **asked),
            fix="Prepare less, keep the result for later runs, or make the line cheaper.",
            no_effect="No effect on a longer run, which pays it once, too.",
            once_ns=max(row["own_low_ns"], 0),
            file=row["file"],
            line=row["line"],
        )


RULE = Rule(_find)
