"""A line makes a whole container anew, to change a part of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import duration, share
from rlscope.analysis import statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/own_line"
# Functions of NumPy and PyTorch whose result is a copy of all that they are given.
_COPIES = frozenset("append cat concatenate delete hstack insert roll stack vstack".split())


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id, "operations": []}
    places: dict[tuple[str, int], list[dict[str, object]]] = {}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        places.setdefault((row["file"], row["line"]), []).append(row)
    for (file, line), rows in places.items():
        time = estimate_of(rows)
        if not verdicts.is_line_costly(time.saving_ns, loop.loop_ns):
            continue
        copier = source_of(trace, file).copies_itself(line, _COPIES)
        if copier is not None:
            yield Finding(
                title=f"{copier} copies a whole buffer, for "
                f"{share(time.saving_ns, loop.loop_ns)} of the loop",
                evidence=f"The line takes {duration(time.saving_ns)}: its result replaces one of "
                "its own arguments.",
                evidence_sql=statement.shown(_STATEMENT, **asked),
                fix="Make room once, and write new rows over the oldest ones.",
                no_effect="Little effect where the buffer is small.",
                price=time.part(0.85, 0.95, 1.0),
                operation=str(rows[0]["operation"]),
                file=file,
                line=line,
            )


RULE = Rule(_find)
