"""A model, as of scikit-learn, is asked for one row after the other: one call could take all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import batchable_lines, statement, training_lines
from rlscope.analysis.called_functions import rows_of_calls
from rlscope.analysis.critical_loop import Loop, states
from rlscope.analysis.finding import Finding, Rule

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_MODELS = (
    r".*/sklearn/.*:\w+\.(decision_function|predict|predict_proba|score_samples|transform)",
    r".*/(lightgbm|xgboost)/.*:\w+\.predict(_proba)?",
)
_STATEMENT = "findings/calling_line"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = sorted({row["operation"] for row in states(trace, loop).to_dicts()})
    asked = {"process_id": loop.process_id, "operations": operations, "functions": [*_MODELS]}
    row = batchable_lines.nearest(trace, loop, rows_of_calls(trace, _STATEMENT, **asked))
    if row is None:
        return
    time = training_lines.time_of([row])
    time = time.times(training_lines.whole_ns(trace, loop, row) / row["total_ns"])
    yield Finding(
        title="a model is asked for one row after the other, for "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence="The line leads to a model, in a loop of which no pass needs what "
        "an earlier one made. Each call checks its input, and goes through all parts of the model.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Put the rows of all passes into one array, and ask the model once.",
        no_effect="Little effect where the loop has a few passes.",
        price=time.part(0.5, 0.95, 1.0).within(loop.loop_ns),
        operation=row["operation"],
        file=row["file"],
        line=row["line"],
    )


RULE = Rule(_find)
