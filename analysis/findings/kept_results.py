"""A function computes again what did not change since its last call, and what it could keep."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.kept_results import (
    Call,
    call_at,
    callers,
    may_change,
    unchanged_in_closure,
)
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import Source, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_LINES = "findings/line_operation"
# Functions that call functions, of those that are looked at.
_DEEPEST = 3


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for file in statement.run(trace, "findings/own_file", pattern="")["file"]:
        source = source_of(trace, file)
        asked = {"process_id": loop.process_id, "file": file}
        rows = statement.run(trace, _LINES, **asked).to_dicts()
        seen = {row["line"] for row in rows}
        for row in rows:
            line, total_ns = row["line"], row["total_ns"]
            if not verdicts.is_line_costly(total_ns, loop.loop_ns):
                continue
            said = _of_call(source, line, seen) or _of_closure(source, line)
            if said is None:
                continue
            what, evidence = said
            yield Finding(
                title=f"computing {what} again, though it did not change, takes "
                f"{share(total_ns, loop.loop_ns)} of the loop",
                evidence=evidence,
                evidence_sql=statement.shown(_LINES, **asked),
                fix="Compute it once, where what it is made of changes, and keep the result.",
                no_effect="Other results where somebody else changes what it is made of.",
                price=exact(total_ns).part(0.3, 0.85, 1.0),
                operation=row["operation"],
                file=file,
                line=line,
            )


def _of_call(source: Source, line: int, seen: Container[int]) -> tuple[str, str] | None:
    call = call_at(source, line)
    if call is None or _is_changed(source, line, call, seen):
        return None
    reads = ", ".join(f"self.{each}" for each in sorted(call.reads))
    if not reads:
        return f"{call.name}()", "It is given what stays the same, and reads nothing else."
    alone = f"It reads {reads} alone. No function that led to the line changes them."
    return f"{call.name}()", alone


def _is_changed(source: Source, line: int, call: Call, seen: Container[int]) -> bool:
    """Whether a function that led to a line may change what a call reads, or no function did.

    Args:
        seen: lines of the file that the loop was seen in.
    """
    functions, led = source.functions_of_name(), [source.function_node(line)]
    for _ in range(_DEEPEST):
        if any(each is None or may_change(each, call, functions) for each in led):
            return True
        led = [
            caller
            for each in led
            if each is not None
            for caller in callers(functions, each.name)
            if any(place in seen for place in range(caller.lineno, (caller.end_lineno or 0) + 1))
        ]
    return False


def _of_closure(source: Source, line: int) -> tuple[str, str] | None:
    name = unchanged_in_closure(source, line)
    if name is None:
        return None
    return (
        name,
        "The line reads variables of the function around its own alone: all calls compute the "
        "same. If gradients of it are asked for more than once, give retain_graph=True.",
    )


RULE = Rule(_find, of_lines=True)
