"""The loop evaluates its policy for a notable part of its time."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import share
from rlscope.analysis import finding_verdicts, groups, statement
from rlscope.analysis.critical_loop import Loop, states
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import exact
from rlscope.relations.groups import EVALUATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/leading_line"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    paths = groups.paths_in(trace, loop.process_id, EVALUATION)
    rows = states(trace, loop).to_dicts()
    rows = [row for row in rows if row["operation"] in paths]
    evaluation_ns = sum(row["duration_ns"] for row in rows)
    if not finding_verdicts.is_evaluation_notable(evaluation_ns, loop.loop_ns):
        return
    asked = {"process_id": loop.process_id, "operations": paths}
    file, line = _place(trace, loop, asked)
    yield Finding(
        title=f"evaluating the policy takes {share(evaluation_ns, loop.loop_ns)} of the loop",
        evidence="All of the operation is counted.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Evaluate a tenth as often or with fewer episodes, or let another process do it.",
        no_effect="No effect where each evaluation is needed, as to choose the best policy.",
        price=exact(evaluation_ns).part(0.8, 0.9, 1.0),
        operation=rows[0]["operation"],
        file=file,
        line=line,
    )


def _place(trace: Trace, loop: Loop, asked: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """The line from which all of it is called, and hardly anything else."""
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    found = None, None
    for row in sorted(rows, key=lambda row: row["distance"]):
        if finding_verdicts.is_nearly_all(row["total_ns"], rows[0]["total_ns"]):
            if found == (None, None) or not _does_more(trace, loop, row, asked["operations"]):
                found = row["file"], row["line"]
    return found


def _does_more(
    trace: Trace, loop: Loop, row: Mapping[str, Any], operations: Container[str]
) -> bool:
    asked = {"process_id": loop.process_id, "file": row["file"]}
    of_file = statement.run(trace, "findings/line_operation", **asked).to_dicts()
    others = (
        each["total_ns"]
        for each in of_file
        if each["line"] == row["line"] and each["operation"] not in operations
    )
    return not finding_verdicts.is_of_one_operation(row["total_ns"], sum(others))


RULE = Rule(_find)
