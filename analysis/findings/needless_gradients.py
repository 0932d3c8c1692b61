"""Inference records for autograd what nobody differentiates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import gradient_mode, groups, learning_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Experiment, Finding, Rule
from rlscope.analysis.prices import exact
from rlscope.relations.groups import INFERENCE

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/needless_gradients"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "operations": groups.paths_in(trace, loop.process_id, INFERENCE),
        "replay": groups.paths_in(trace, loop.process_id, "replay"),
    }
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts()[:1]:
        if not learning_verdicts.are_gradients_needless(row):
            continue
        around = gradient_mode.lines_around(trace, loop, row["operation"])
        if gradient_mode.is_off(trace, around, if_asked=True):
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


def _experiment(row: Mapping[str, Any]) -> Experiment | None:
    if not row["forward_calls"]:
        return None
    each_ns = row["forward_ns"] / row["forward_calls"]
    return Experiment("gradient_mode", {"each_ns": each_ns}, exact(row["work_ns"]))


RULE = Rule(_find)
