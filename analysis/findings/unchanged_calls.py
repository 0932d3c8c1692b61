"""A loop computes the same again in each pass: it sorts a list, say, that does not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import independent_passes, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import time_of_line
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/own_line"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id, "operations": []}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    for row in rows:
        if not verdicts.is_line_costly(row["own_ns"], loop.loop_ns):
            return
        name = independent_passes.unchanged_call(source_of(trace, row["file"]), row["line"])
        if name is None:
            continue
        time = time_of_line(rows, row)
        yield Finding(
            title=f"a loop calls {name} with the same in each pass, for "
            f"{share(time.saving_ns, loop.loop_ns)} of the training loop",
            evidence="Nothing in that loop changes what the call is given.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Call it once, before the loop, and keep the result.",
            no_effect="Little effect where the loop has a few passes.",
            price=time.part(0.4, 0.9, 1.0),
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )
        return


RULE = Rule(_find, of_lines=True)
