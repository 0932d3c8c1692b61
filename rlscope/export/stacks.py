"""What formats for profiles of stacks show of a run: the time of each stack, over the whole run.

The times are estimates (docs/reference/semantics.md, "Source lines"). Their sum is the time of the
processes, so a process also has time of which no stack is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rlscope.analysis import coverage, statement
from rlscope.errors import RlscopeError
from rlscope.export.window import Window
from rlscope.relations.trace import Trace


class Frame(NamedTuple):
    """A line of a call."""

    function: str
    file: str
    line: int
    """0: not known."""
    first_line: int


class StackTime(NamedTuple):
    """Time of a process in a stack."""

    process: str
    frames: Sequence[Frame]
    """The outermost call first."""
    stage: str
    operation: str
    layer: str
    self_ns: int


UNKNOWN = (Frame("(stack not known)", "", 0, 0),)


def read(trace: Trace, window: Window) -> list[StackTime]:
    """All of them, process by process.

    Raises RlscopeError: a part of the run is wanted, or the run has no stacks.
    """
    if not window.is_whole:
        raise RlscopeError(
            "times of stacks are sums over the whole run: "
            "export without --from, --to and --iteration"
        )
    if not has_stacks(trace):
        reasons = [reason for (reason,) in coverage.why_absent(trace, "stack")]
        raise RlscopeError(f"the run has no stacks: {'; '.join(reasons) or 'none was read'}")
    return list(_times(trace))


def has_stacks(trace: Trace) -> bool:
    """Whether any was read."""
    return len(trace.table("stack")) > 0


def _times(trace: Trace) -> Iterator[StackTime]:
    stacks = _stacks(trace)
    names = {
        row["process_id"]: f"{row['name'] or row['short_name'] or '?'} ({row['os_pid'] or '?'})"
        for row in trace.table("process").to_dicts()
    }
    rows = statement.run(trace, "export_stack_time")
    for process_id, stack_id, stage, operation, layer, ns in rows:
        frames = UNKNOWN if stack_id is None else stacks[process_id, stack_id]
        yield StackTime(names[process_id], frames, stage, operation, layer, ns)


def _stacks(trace: Trace) -> dict[tuple[int, int], tuple[Frame, ...]]:
    """The frames of each stack. A caller has a lower number than what it calls."""
    found: dict[tuple[int, int], tuple[Frame, ...]] = {}
    rows = trace.table("stack").to_dicts()
    for row in sorted(rows, key=lambda row: (row["process_id"], row["stack_id"])):
        frame = Frame(row["function"], row["file"], row["line"] or 0, row["first_line"] or 0)
        above = found.get((row["process_id"], row["parent_id"]), ())
        found[row["process_id"], row["stack_id"]] = (*above, frame)
    return found
