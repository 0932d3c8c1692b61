"""The loop draws plots, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis import groups, operations
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions
from rlscope.relations.groups import RENDERING, SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Libraries that draw plots: one is one row.
_LIBRARIES = (r".*/(bokeh|matplotlib|mpl_toolkits|plotly|seaborn|visdom)/.*",)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    # What an environment draws is a picture of it.
    elsewhere = groups.paths_but(trace, loop.process_id, RENDERING, SIMULATION)
    found = of_functions(trace, loop, _LIBRARIES, elsewhere, waits=True)
    if found is None:
        return
    yield Finding(
        title=f"drawing plots takes {share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in functions that draw plots, "
        f"called from {plural(len(found.places), 'line')} of the program, "
        f"{operations.where(found.operation)}.",
        evidence_sql=found.evidence_sql,
        fix="Draw a tenth as often, or once at the end, of values that the loop keeps.",
        no_effect="No effect where somebody looks at each of them.",
        price=found.time.part(0.8, 0.9, 1.0),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


RULE = Rule(_find, of_lines=True)
