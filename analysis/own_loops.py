"""Loops of the program within one operation, around a line or around the lines that lead to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rlscope.analysis import finding_verdicts, statement
from rlscope.analysis.operations import OUTSIDE
from rlscope.analysis.source_code import source_of
from rlscope.relations.groups import SIMULATION, group_of

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace

# What calls a function for one item after the other.
_PASSES = frozenset(("accumulate", "filter", "map", "reduce", "starmap"))


@dataclass(frozen=True)
class OwnLoop:
    """A loop of the program within one operation."""

    first: int
    """Its lines."""
    last: int
    total_ns: float
    """Time in which its lines are on the stack."""


def own_loop(trace: Trace, loop: Loop, *, file: str, line: int, operation: str) -> OwnLoop | None:
    """The innermost loop around a line, if its other lines belong to no other operation. The loop
    of the training itself, in which environments step, is none. Its function may now and then be
    called in another operation."""
    place = source_of(trace, file).loop_at(line)
    if place is None:
        return None
    rows = statement.run(trace, "findings/line_operation", process_id=loop.process_id, file=file)
    # The loop's own line has the time of what is called in each pass, as all callers have. A loop
    # of one line has no other.
    first = place[0] if place[0] == place[1] else place[0] + 1
    inside = [row for row in rows.to_dicts() if first <= row["line"] <= place[1]]
    own_ns = _by_line(row for row in inside if row["operation"] == operation)
    others = [row for row in inside if row["operation"] not in (operation, OUTSIDE)]
    if operation == OUTSIDE and any(group_of(row["operation"]) == SIMULATION for row in others):
        return None
    others_ns = _by_line(others)
    if any(ns > own_ns.get(line, 0) for line, ns in others_ns.items()):
        return None
    total_ns = sum(own_ns.values())
    if not finding_verdicts.is_of_one_operation(total_ns, sum(others_ns.values())):
        return None
    return OwnLoop(*place, total_ns=total_ns)


def operations_in(trace: Trace, loop: Loop, file: str, place: tuple[int, int]) -> set[str]:
    """The operations in which lines of a file, from one to another, take time."""
    rows = statement.run(trace, "findings/line_operation", process_id=loop.process_id, file=file)
    return {row["operation"] for row in rows.to_dicts() if place[0] <= row["line"] <= place[1]}


def loop_around(
    trace: Trace, loop: Loop, *, file: str, line: int, operation: str
) -> tuple[str, OwnLoop] | None:
    """The file and the loop of a line, as `own_loop` gives it. If its function has none around it,
    that of the line that calls the function, and so on."""
    own = file, line
    for place in callers(trace, loop, file, line, operation):
        source = source_of(trace, place[0])
        if source.loop_at(place[1]) is not None:
            found = own_loop(trace, loop, file=place[0], line=place[1], operation=operation)
            return (place[0], found) if found else None
        if source.calls_any(place[1], _PASSES) and place != own:
            total_ns = _total_ns(trace, loop, *place, operation)
            return place[0], OwnLoop(place[1], place[1], total_ns=total_ns)
    return None


def callers(
    trace: Trace, loop: Loop, file: str, line: int, operation: str
) -> Iterator[tuple[str, int]]:
    """A line, the one that calls its function for longest, the one that calls that, and so on."""
    yield file, line
    rows = _leading(trace, loop, file, line, operation)
    longest = {row["depth"]: row for row in reversed(rows)}
    for depth in sorted(longest):
        yield longest[depth]["file"], longest[depth]["line"]


def parting_callers(trace: Trace, loop: Loop, file: str, line: int) -> list[dict[str, Any]]:
    """file, line, total_ns of the lines that lead to a line, where its callers first part: several
    of them have a notable share, in the operation in which the line takes longest. None: they do
    not."""
    rows = statement.run(trace, "findings/line_operation", process_id=loop.process_id, file=file)
    of_line = [row for row in rows.to_dicts() if row["line"] == line]
    if not of_line:
        return []
    operation = max(of_line, key=lambda row: row["total_ns"])["operation"]
    found = _leading(trace, loop, file, line, operation)
    for _, of_depth in groupby(found, key=lambda row: row["depth"]):
        calls = [*of_depth]
        whole_ns = sum(row["total_ns"] for row in calls)
        large = [
            row for row in calls if finding_verdicts.is_caller_large(row["total_ns"], whole_ns)
        ]
        if len(large) > 1:
            return large
    return []


def _leading(
    trace: Trace, loop: Loop, file: str, line: int, operation: str
) -> list[dict[str, Any]]:
    """Rows of findings/line_caller that lead to one line. All lines are asked for at once."""
    asked = {"process_id": loop.process_id, "operation": operation}
    rows = statement.run(trace, "findings/line_caller", **asked).to_dicts()
    return [row for row in rows if (row["inner_file"], row["inner_line"]) == (file, line)]


def _total_ns(trace: Trace, loop: Loop, file: str, line: int, operation: str) -> float:
    rows = statement.run(trace, "findings/line_operation", process_id=loop.process_id, file=file)
    of_line = (
        row for row in rows.to_dicts() if (row["line"], row["operation"]) == (line, operation)
    )
    return float(sum(row["total_ns"] for row in of_line))


def _by_line(rows: Iterable[Mapping[str, Any]]) -> dict[int, float]:
    found: dict[int, float] = {}
    for row in rows:
        found[row["line"]] = found.get(row["line"], 0) + row["total_ns"]
    return found
