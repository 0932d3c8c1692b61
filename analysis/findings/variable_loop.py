"""A Python loop that assigns to variables of TensorFlow, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis import groups, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of, of_functions
from rlscope.analysis.own_loops import own_loop
from rlscope.analysis.source_code import source_of
from rlscope.relations.groups import LEARNING

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Keras's variables are made of these, if TensorFlow is its backend.
_FUNCTIONS = (
    r".*tensorflow/python/ops/resource_variable_ops\.py:BaseResourceVariable\.assign(_add|_sub)?",
)
_NAMES = frozenset(("assign", "assign_add", "assign_sub"))
_STATEMENT = "findings/own_line"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    learning = groups.paths_in(trace, loop.process_id, LEARNING)
    assigns = of_functions(trace, loop, _FUNCTIONS, learning)
    if assigns is None:
        return
    lines = {
        each
        for file, line in assigns.places
        for each in _loop_lines(trace, loop, file=file, line=line, operation=assigns.operation)
    }
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


def _loop_lines(
    trace: Trace, loop: Loop, *, file: str, line: int, operation: str
) -> Iterator[tuple[str, int]]:
    """Those of the loop around a line that assigns itself. An optimizer that assigns is none, and
    the loop of the training is none."""
    if not source_of(trace, file).calls_any(line, _NAMES):
        return
    around = own_loop(trace, loop, file=file, line=line, operation=operation)
    if around is not None:
        for each in range(around.first, around.last + 1):
            yield file, each


RULE = Rule(_find, of_lines=True)
