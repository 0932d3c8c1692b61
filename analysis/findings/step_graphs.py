"""Backwards go through the forwards that the program acted with, a step each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, share
from rlscope.analysis import gradient_mode, groups, learning_verdicts, statement
from rlscope.analysis.critical_loop import Loop, time_in
from rlscope.analysis.environment_steps import step_count
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, of_functions
from rlscope.analysis.prices import exact
from rlscope.relations.groups import INFERENCE, LEARNING

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/needless_gradients"
# A network with a state needs each step before the next one.
_RECURRENT = (r".*/torch/nn/modules/rnn\.py:.*\.forward",)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    acting = groups.paths_in(trace, loop.process_id, INFERENCE)
    learning = groups.paths_in(trace, loop.process_id, LEARNING)
    replay = groups.paths_in(trace, loop.process_id, "replay")
    asked = {"process_id": loop.process_id, "operations": acting, "replay": replay}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    row = next(filter(learning_verdicts.are_graphs_of_steps, rows), None)
    found = of_functions(trace, loop, NETWORKS, acting)
    if row is None or found is None or of_functions(trace, loop, _RECURRENT, acting):
        return
    around = gradient_mode.lines_around(trace, loop, row["operation"])
    if gradient_mode.is_off(trace, around, if_asked=False):
        return
    acting_ns, learning_ns = (time_in(trace, loop, each) for each in (acting, learning))
    # Actor and critic may have a backward each.
    updates = min(row["backwards"], loop.iterations or row["backwards"])
    yield Finding(
        title=f"each update goes through the forwards of {_steps(trace, loop, row) / updates:.0f} "
        "steps, one by one: inference and learning take "
        f"{share(acting_ns + learning_ns, loop.loop_ns)} of the loop",
        evidence=f"{count(row['backwards'])} backwards use the graphs that {row['operation']} "
        "made, and no forward is made for them.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Act under torch.no_grad(), and keep what was seen and done. Before the loss, compute "
        "one forward with all steps, and the loss of all at once.",
        no_effect="Other results where a backward goes through the environment or a state of the "
        "network, or where layers draw (dropout) or count (batch norm).",
        # Taken from two programs: pytorch/examples' actor-critic wins 80 % of its loop, of which
        # these parts promise 55 %, and the planted recorded_episodes 47 %, where they promise 58 %.
        price=exact(learning_ns)
        .part(0.6, 0.88, 0.97)
        .plus(exact(acting_ns).part(0.15, 0.35, 0.65)),
        operation=row["operation"],
        file=found.file,
        line=found.line,
    )


def _steps(trace: Trace, loop: Loop, row: Mapping[str, Any]) -> int:
    """Steps of environments. One may have several entries into inference."""
    return int(min(step_count(trace, loop) or row["entries"], row["entries"]))


RULE = Rule(_find)
