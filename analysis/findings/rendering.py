"""The environment draws a picture in its steps, or the loop asks it to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import groups
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions
from rlscope.relations.groups import RENDERING, SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Gymnasium's name of what draws, and libraries that only draw.
_DRAWS = (
    r".*:(.*\.)?_?render(_frame)?",
    r".*/(pygame|pyglet|matplotlib|PIL)/.*",
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = [
        path
        for group in (SIMULATION, RENDERING)
        for path in groups.paths_in(trace, loop.process_id, group)
    ]
    found = of_functions(trace, loop, _DRAWS, operations)
    if found is None:
        return
    yield Finding(
        title=f"the environment draws for {share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in functions that draw, in "
        f"{found.operation}.",
        evidence_sql=found.evidence_sql,
        fix="Draw only what is looked at: no render mode in training, or each n-th episode.",
        no_effect="No effect where the picture is what the policy observes.",
        price=found.time.part(0.9, 1.0, 1.0),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


RULE = Rule(_find)
