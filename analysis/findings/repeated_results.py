"""Functions of one step compute the same, where one could tell the others."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import share
from rlscope.analysis import statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import exact
from rlscope.analysis.repeated_results import Repeated, computed_again, computed_in_lines
from rlscope.analysis.source_code import Source, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_LINES = "findings/line_operation"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for file in statement.run(trace, "findings/own_file", pattern="")["file"]:
        asked = {"process_id": loop.process_id, "file": file}
        rows = statement.run(trace, _LINES, **asked).to_dicts()
        costly = [row for row in rows if verdicts.is_line_costly(row["total_ns"], loop.loop_ns)]
        seen = {row["line"] for row in rows}
        for found, row in _repeated(source_of(trace, file), costly, seen) if costly else ():
            total_ns = sum(each["total_ns"] for each in rows if each["line"] in found.lines)
            again = 1 - 1 / found.times
            yield Finding(
                title=f"computing {found.name}() {found.times} times, though nothing changes in "
                f"between, takes {share(total_ns, loop.loop_ns)} of the loop",
                evidence="The function only reads what its object has and what it is given.",
                evidence_sql=statement.shown(_LINES, **asked),
                fix="Compute it once in each step, and give the result to the others.",
                no_effect="Other results where somebody else changes what it is made of.",
                price=exact(total_ns).part(0.7 * again, again, min(1.2 * again, 1)),
                operation=row["operation"],
                file=file,
                line=row["line"],
            )


def _repeated(
    source: Source, rows: Sequence[Mapping[str, Any]], seen: Container[int]
) -> Iterator[tuple[Repeated, Mapping[str, Any]]]:
    """With the row of each that takes longest."""
    rows = sorted(rows, key=lambda row: -row["total_ns"])
    told: set[int] = set()
    for found in [
        *computed_again(source, {row["line"] for row in rows}, seen),
        *filter(None, (computed_in_lines(source, row["line"]) for row in rows)),
    ]:
        row = next((each for each in rows if each["line"] in found.lines), None)
        if row is not None and told.isdisjoint(found.lines):
            told |= found.lines
            yield found, row


RULE = Rule(_find, of_lines=True)
