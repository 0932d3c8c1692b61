"""Lines of the program that a loop spends most in, for rules of analysis/findings that read their
text.

for line in costly_lines(trace, loop):
    if is_like_that(line.source, line.row["line"]): ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlscope.analysis import statement, verdicts
from rlscope.analysis.function_time import time_of_line
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import Source, source_of

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

STATEMENT = "findings/own_line"


@dataclass(frozen=True)
class CostlyLine:
    """A line, in the operation in which it takes longest."""

    row: Mapping[str, Any]
    """Of `findings/own_line`."""
    source: Source
    """Of its file."""
    time: Price
    """In all operations."""


def costly_lines(trace: Trace, loop: Loop) -> Iterator[CostlyLine]:
    """Those that take enough to be looked at, the longest first."""
    rows = statement.run(trace, STATEMENT, process_id=loop.process_id, operations=[]).to_dicts()
    for row in rows:
        if not verdicts.is_line_costly(row["own_ns"], loop.loop_ns):
            return
        yield CostlyLine(row, source_of(trace, row["file"]), time_of_line(rows, row))


def shown(loop: Loop) -> str:
    """The statement that shows their times."""
    return statement.shown(STATEMENT, process_id=loop.process_id, operations=[])
