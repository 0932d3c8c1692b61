"""Rules of analysis/findings about time in functions that a loop could call less often.

RULE = of_calls(functions, title="...", fix="...", no_effect="...", part=(0.8, 0.95, 1.0))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis import groups
from rlscope.analysis.critical_loop import Loop, time_in
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import made_ready, of_functions
from rlscope.analysis.source_code import Source

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def of_calls(
    functions: Sequence[str],
    *,
    title: str,
    what: str,
    fix: str,
    no_effect: str,
    part: tuple[float, float, float],
    in_groups: Sequence[str] = (),
    with_lines: bool = False,
    where: Callable[[Source, int], bool] | None = None,
    waits: bool = False,
    speeds_around: bool = False,
) -> Rule:
    """`functions`, `where`, `waits`: those of `of_functions`. `title` has the share of the loop put
    behind it, and `what` says in which functions readings lie. `part`: what the fix wins of their
    time. `in_groups`: of the operations in which they count; none: all. `with_lines`: whether the
    fix also wins what Python itself does in the lines that call them. `speeds_around`: whether code
    around them becomes faster, too: that of the same operations."""

    def find(trace: Trace, loop: Loop) -> Iterator[Finding]:
        pid = loop.process_id
        operations = [path for group in in_groups for path in groups.paths_in(trace, pid, group)]
        found = of_functions(
            trace, loop, functions, operations if in_groups else None, where, waits=waits
        )
        if found is None:
            return
        time = found.time
        if with_lines:
            time = time.plus(made_ready(trace, loop, found))
        price = time.part(*part)
        if speeds_around:
            price = price.within(time_in(trace, loop, found.operations))
        yield Finding(
            title=f"{title} {share(time.saving_ns, loop.loop_ns)} of the loop",
            evidence=f"{found.readings} readings of the loop's stack lie in {what}, called from "
            f"{plural(len(found.places), 'line')} of the program.",
            evidence_sql=found.evidence_sql,
            fix=fix,
            no_effect=no_effect,
            price=price,
            operation=found.operation,
            file=found.file,
            line=found.line,
        )

    return Rule(find, of_lines=True)
