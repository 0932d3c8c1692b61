"""A Python loop that assigns to variables of TensorFlow or Keras, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis import groups, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of, of_functions
from rlscope.analysis.source_code import source_of
from rlscope.relations.groups import LEARNING

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_ASSIGN = r"Variable\.assign(_add|_sub)?"
_FUNCTIONS = (
    rf".*tensorflow/python/ops/resource_variable_ops\.py:BaseResource{_ASSIGN}",
    rf".*keras/src/backend/common/variables\.py:(Keras)?{_ASSIGN}",
)
_NAMES = frozenset(("assign", "assign_add", "assign_sub"))
_STATEMENT = "findings/own_line"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    learning = groups.paths_in(trace, loop.process_id, LEARNING)
    assigns = of_functions(trace, loop, _FUNCTIONS, learning)
    if assigns is None:
        return
    lines = {each for place in assigns.places for each in _loop_lines(trace, *place)}
    asked = {"process_id": loop.process_id, "operations": learning}
    rows = [
        row
        for row in statement.run(trace, _STATEMENT, **asked).to_dicts()
        if (row["file"], row["line"]) in lines
    ]
    own = [row for row in rows if (row["file"], row["line"]) in assigns.places]
    if not own:
        return
    time = estimate_of(rows)
    yield Finding(
        title=f"a Python loop over variables takes {share(time.saving_ns, loop.loop_ns)} of the "
        "loop",
        evidence=f"{assigns.readings} readings of the loop's stack lie in assignments to "
        f"variables, called from {plural(len(assigns.places), 'line')} of the program. "
        "TensorFlow runs each operator by itself there.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Put the loop into one function that tf.function compiles, and give it the variables "
        "of both networks.",
        no_effect="Little effect where the variables are so large that copying takes the time.",
        # Keras's example of DDPG won 86 % of it so.
        price=time.part(0.6, 0.86, 0.95),
        operation=own[0]["operation"],
        file=own[0]["file"],
        line=own[0]["line"],
    )


def _loop_lines(trace: Trace, file: str, line: int) -> Iterator[tuple[str, int]]:
    """Those of the loop around a line that assigns itself. An optimizer that assigns is none."""
    source = source_of(trace, file)
    around = source.loop_at(line)
    if around is not None and source.calls_any(line, _NAMES):
        for each in range(around[0], around[1] + 1):
            yield file, each


RULE = Rule(_find)
