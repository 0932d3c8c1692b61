"""The garbage collector goes through many live objects again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import duration, share
from rlscope.analysis import operations, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/garbage_collection"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    if not rows:
        return
    total_ns = sum(row["collecting_ns"] for row in rows)
    full_ns = sum(row["full_ns"] for row in rows)
    others = exact(total_ns - full_ns)
    file, line, is_asked = _place(trace, loop, rows[0]["operation"])
    less = "Call gc.collect() less often, or call" if is_asked else "Call"
    yield Finding(
        title=f"collecting garbage takes {share(total_ns, loop.loop_ns)} of the loop",
        evidence=f"Collections take {duration(total_ns)}. Those that go through all objects take "
        f"{duration(full_ns)} of it, most of it {operations.where(rows[0]['operation'])}.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix=f"{less} gc.freeze() once the long-lived objects are made, and "
        "gc.set_threshold(50_000, 20, 100); keep transitions in arrays.",
        no_effect="Little effect where few objects live. Objects in cycles then stay in memory for "
        "longer.",
        price=exact(full_ns).part(0.7, 0.95, 1.0).plus(others.part(0.0, 0.5, 0.9)),
        operation=rows[0]["operation"],
        file=file,
        line=line,
    )


def _place(trace: Trace, loop: Loop, operation: str) -> tuple[str | None, int | None, bool]:
    """Where the program asks for collections, and whether it does; else the line with most time of
    the operation in which most of them begin."""
    rows = statement.run(
        trace, "findings/own_line", process_id=loop.process_id, operations=[operation]
    ).to_dicts()
    for file in dict.fromkeys(row["file"] for row in rows):
        line = source_of(trace, file).call_of("collect", owner="gc")
        if line is not None:
            return file, line, True
    return (rows[0]["file"], rows[0]["line"], False) if rows else (None, None, False)


RULE = Rule(_find)
