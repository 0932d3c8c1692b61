"""Inference records for autograd what nobody differentiates."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import groups, learning_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Experiment, Finding, Rule
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import GRADIENTS_OFF, name_of, source_of
from rlscope.relations.groups import INFERENCE

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/needless_gradients"
_LINES = "findings/line_around"
_TURNS_OFF = "set_grad_enabled"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "operations": groups.paths_in(trace, loop.process_id, INFERENCE),
        "replay": groups.paths_in(trace, loop.process_id, "replay"),
    }
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts()[:1]:
        if not learning_verdicts.are_gradients_needless(row):
            continue
        around = statement.run(
            trace, _LINES, process_id=loop.process_id, operation=row["operation"]
        ).to_dicts()
        texts = [(source_of(trace, each["file"]), each["line"]) for each in around]
        if any(source.is_under(line, GRADIENTS_OFF) for source, line in texts):
            continue
        if _are_turned_off(trace):
            continue
        # The outermost line that belongs to inference only: there autograd can be turned off.
        places = [each for each in around if not each["is_shared"]]
        if not places:
            continue
        yield Finding(
            title=f"{row['operation']} records gradients that nobody needs",
            evidence=f"Its operators take {duration(row['work_ns'])}, and autograd is on. The "
            f"{count(row['backwards'])} backwards go through forwards of their own.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Run it under torch.no_grad() or torch.inference_mode().",
            no_effect="No effect, but an error, where a loss uses what inference computed.",
            experiment=_experiment(row),
            price=exact(row["work_ns"]).part(0.1, 0.35, 0.65),
            operation=row["operation"],
            file=places[0]["file"],
            line=places[0]["line"],
        )


def _are_turned_off(trace: Trace) -> bool:
    """Whether the program turns gradients off for all that follows: a call that is no block."""
    files = statement.run(trace, "findings/own_file", pattern=_TURNS_OFF)["file"]
    return any(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and name_of(node.value.func) == _TURNS_OFF
        and [ast.unparse(each) for each in node.value.args] == ["False"]
        for file in files
        for node in ast.walk(source_of(trace, file).tree or ast.Module([], []))
    )


def _experiment(row: Mapping[str, Any]) -> Experiment | None:
    if not row["forward_calls"]:
        return None
    each_ns = row["forward_ns"] / row["forward_calls"]
    return Experiment("gradient_mode", {"each_ns": each_ns}, exact(row["work_ns"]))


RULE = Rule(_find)
