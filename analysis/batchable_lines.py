"""Lines that lead to a model in a loop of the program whose passes could be one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlscope.analysis import finding_verdicts
from rlscope.analysis.independent_passes import chains_could_be_one_call, could_be_one_call
from rlscope.analysis.own_loops import own_loop
from rlscope.analysis.source_code import Source, source_of

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.analysis.training_lines import Row
    from rlscope.relations.trace import Trace


def nearest(trace: Trace, loop: Loop, rows: Sequence[Row]) -> Row | None:
    """Of rows of findings/calling_line the one nearest to the model that leads to most of its calls
    in an operation, and stands in such a loop. The loop can be that of a caller."""
    longest_ns: dict[str, float] = {}
    for row in rows:
        known_ns = longest_ns.get(row["operation"], 0)
        longest_ns[row["operation"]] = max(row["total_ns"], known_ns)
    for row in sorted(rows, key=lambda row: row["distance"]):
        at = {"file": row["file"], "line": row["line"], "operation": row["operation"]}
        if (
            finding_verdicts.is_most_of_calls(row["total_ns"], longest_ns[row["operation"]])
            and _could_be_one_call(source_of(trace, row["file"]), row["line"])
            and own_loop(trace, loop, **at) is not None
        ):
            return row
    return None


def _could_be_one_call(source: Source, line: int) -> bool:
    return could_be_one_call(source, line) or chains_could_be_one_call(source, line)
