"""How long loops of a program's text take while it learns, with what they cost in the backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlscope.analysis import training_lines
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import source_of
from rlscope.analysis.training_lines import Row

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace


def time_of(trace: Trace, loop: Loop, rows: Sequence[Row], forwards: Sequence[Row]) -> Price:
    """Of the loops around some rows, and of their part of the backwards and updates.

    Args:
        forwards: rows of all forwards, these among them.
    """
    time = Price(0, 0, 0)
    for passes, some in _by_loop(trace, rows).items():
        whole_ns = training_lines.whole_ns(trace, loop, some[0], range(passes[1], passes[2] + 1))
        price = training_lines.time_of(some)
        time = time.plus(price.times(max(whole_ns / price.saving_ns, 1)))
    learned_ns, all_ns = (
        sum(row["total_ns"] for row in some if training_lines.has_backward(trace, row))
        for some in (rows, forwards)
    )
    trained = [
        *training_lines.backward_lines(trace, loop),
        *training_lines.optimizer_lines(trace, loop),
    ]
    if learned_ns and trained:
        time = time.plus(
            training_lines.time_of(training_lines.direct(trained)).times(
                min(learned_ns / all_ns, 1)
            )
        )
    return time


def joined(time: Price, passes: float | None) -> Price:
    """What one call for all passes wins of their time: it takes somewhat longer than a call of one.
    The loop of a program with 2, 3, 5 and 10 networks became shorter by 22, 35, 50 and 71 %.

    Args:
        passes: how many there are; None: it is not known.
    """
    if passes is None:
        return time.part(0.25, 0.65, 1.0)
    won = max(1 - 1.3 / passes, 0) if passes else 0
    return time.part(0.6 * won, won, min(1.3 * won, 1.0))


def _by_loop(trace: Trace, rows: Sequence[Row]) -> dict[tuple[str, int, int, str], list[Row]]:
    """Rows by the loop around them: file, first and last line, operation."""
    found: dict[tuple[str, int, int, str], list[Row]] = {}
    for row in rows:
        file, line = row["file"], row["line"]
        first, last = source_of(trace, file).loop_at(line) or (line, line)
        found.setdefault((file, first, last, row["operation"]), []).append(row)
    return found
