"""Bodies and joints of MuJoCo are looked up by their names, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/named_lookup"
# Methods of MjModel and MjData that give a view of what has a name.
_VIEWS = frozenset(
    "actuator body camera geom jnt joint light mat mesh pair sensor site tendon".split()
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    rows = [
        row
        for row in statement.run(trace, _STATEMENT, **asked).to_dicts()
        if source_of(trace, row["file"]).calls_any(row["line"], _VIEWS)
    ]
    time = estimate_of(rows)
    if not rows or not finding_verdicts.is_saving_notable(time.saving_ns, loop.loop_ns):
        return
    first = rows[0]
    yield Finding(
        title="looking up bodies and joints of MuJoCo by their names takes "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"The program asks for views {count(first['calls'])} times, which takes "
        f"{duration(first['calls_ns'])}. The rest is Python in these lines.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Look the numbers up once (model.body('hand').id), and index the arrays with all of "
        "them: data.xpos[ids], data.qpos[addresses].",
        no_effect="Little effect where the lines do more than that.",
        price=time.part(0.5, 0.9, 1.1),
        operation=first["operation"],
        file=first["file"],
        line=first["line"],
    )


RULE = Rule(_find, of_lines=True)
