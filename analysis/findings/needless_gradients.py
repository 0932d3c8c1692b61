"""Inference records for autograd what nobody differentiates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration
from rlscope.analysis import groups, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/needless_gradients"
_LINES = "findings/own_line"
_OFF = frozenset(("no_grad", "inference_mode", "set_grad_enabled"))


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "operations": groups.paths_in(trace, loop.process_id, "inference"),
    }
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts()[:1]:
        if not verdicts.are_gradients_needless(row):
            continue
        around = _lines_around(trace, loop, row["operation"])
        if not around or any(source_of(trace, file).is_under(at, _OFF) for file, at in around):
            continue
        lines = statement.run(
            trace, _LINES, process_id=loop.process_id, operations=[row["operation"]]
        ).to_dicts()
        yield Finding(
            title=f"{row['operation']} records gradients that nobody needs",
            evidence=f"Its operators take {duration(row['work_ns'])}, and autograd is on. The "
            f"{count(row['backwards'])} backwards go through forwards of their own.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Run it under torch.no_grad() or torch.inference_mode().",
            no_effect="No effect, but an error, where a loss uses what inference computed.",
            price=exact(row["work_ns"]).part(0.1, 0.3, 0.5),
            operation=row["operation"],
            file=lines[0]["file"] if lines else None,
            line=lines[0]["line"] if lines else None,
        )


def _lines_around(trace: Trace, loop: Loop, operation: str) -> list[tuple[str, int]]:
    """The lines of the program's own that are on the stack in an operation."""
    rows = statement.run(
        trace, "findings/line_around", process_id=loop.process_id, operation=operation
    )
    return [(row["file"], row["line"]) for row in rows.to_dicts()]


RULE = Rule(_find)
