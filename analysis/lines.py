"""Lines of the program's source and stacks of calls, by time in the training loops; columns are
described in analysis/sql.

All of these are estimates (docs/reference/semantics.md, "Source lines"). The times are those of the
processes that count in shares. If none has a training loop, they are of the whole run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import groups, statement, verdicts
from rlscope.analysis.operations import BETWEEN
from rlscope.relations.groups import SIMULATION
from rlscope.relations.rows.operations import NONE
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Frames below this share of the loops are merged.
_LEAST_SHARE = 0.001
# Lines that lead to less of the time between operations are no row of it.
_LEAST_BETWEEN = 0.1


def hot_lines(trace: Trace, *, lines: int) -> Table:
    """file, line, function, text (None: not kept), own_ns and the ends of its interval,
    own_corrected_ns (None: no cost is known), total_ns, wait_ns, gpu_ns, backward_ns, loop_ns: the
    `lines` hottest lines of the program's own code."""
    return statement.run(trace, "hot_line", lines=lines)


def library_line(trace: Trace) -> Table:
    """file, line, library, library_ns, own_ns, loop_ns: the hottest line of the program's own, and
    the package that it calls for the longest time; no row: it calls none."""
    return statement.run(trace, "library_line", lines=1)


def hot_line_parts(trace: Trace, *, lines: int) -> Table:
    """file, line, operation, layer, own_ns, total_ns, gpu_ns: the times of the same lines."""
    return statement.run(trace, "hot_line_part", lines=lines)


def operation_of_hottest_line(trace: Trace) -> str | None:
    """The operation in which most of its own time lies; None: no operation has most of it."""
    times: dict[str, int] = {}
    for part in hot_line_parts(trace, lines=1).to_dicts():
        times[part["operation"]] = times.get(part["operation"], 0) + part["own_ns"]
    name = max(times, key=lambda each: times[each], default=None)
    if name is None or not verdicts.is_most(times[name], sum(times.values())):
        return None
    return BETWEEN if name == NONE else name


def hot_line_texts(trace: Trace, *, lines: int, context: int) -> Table:
    """file, line, text, lines (of the file): the text of the same lines, and of `context` lines
    before and after each."""
    return statement.run(trace, "hot_line_text", lines=lines, context=context)


def inner_lines(trace: Trace, *, rows: int) -> Table:
    """function, file, line, is_own, self_ns, self_corrected_ns (None: no cost is known), loop_ns:
    the lines in which most time was spent, those of libraries too."""
    return statement.run(trace, "inner_line", rows=rows)


def between_lines(trace: Trace, *, rows: int, least_share: float = _LEAST_BETWEEN) -> Table:
    """function, file, line, text (None: not kept), own_ns and the ends of its interval, loop_ns:
    the lines that lead to most time between operations, those of libraries too. Each time is of
    the innermost line that leads to so large a share of it."""
    return statement.run(trace, "between_line", rows=rows, least_share=least_share)


def backward_lines(trace: Trace, *, rows: int) -> Table:
    """file, line, function, text (None: not kept), backward_file, backward_line, backward_ns,
    loop_ns, backwards, watched: lines of the forward by the time of their backward."""
    return statement.run(trace, "backward_line", rows=rows)


def flame_frames(trace: Trace, *, frames: int, least_share: float = _LEAST_SHARE) -> Table:
    """frame, caller_frame (None: nobody called it), function, file, line, is_own, total_ns, gpu_ns:
    the frames of a flame graph, a frame after its caller."""
    return statement.run(trace, "flame_frame", frames=frames, least_share=least_share)


def flame_parts(trace: Trace, *, frames: int, least_share: float = _LEAST_SHARE) -> Table:
    """frame (None: in none), is_known, is_small, operation, layer, self_ns, gpu_ns: the time of the
    same frames without that of the frames they called. It adds up to the time of the loops."""
    return statement.run(trace, "flame_part", frames=frames, least_share=least_share)


def excerpt(trace: Trace, *, file: str, line: int, context: int) -> Table:
    """line, text: a line of the program's source, and so many around it; no rows: not kept."""
    return statement.run(trace, "source_excerpt", file=file, line=line, context=context)


def kept_files(trace: Trace) -> Table:
    """file, lines (how many it has), own_ns: files of the program whose text was kept, those in
    which most time was spent first."""
    return statement.run(trace, "kept_file")


def operation_lines(
    trace: Trace,
    *,
    process_id: int,
    operation: str | None = None,
    layers: Sequence[str] = (),
    stage: str = "loop",
) -> list[dict[str, Any]]:
    """file, line, text (None: not kept), own_ns and the ends of its interval: the program's own
    lines by the time of a process in an operation (None: in all), the hottest first."""
    return statement.run(
        trace,
        "operation_line",
        process_id=process_id,
        operation=operation,
        layers=list(layers),
        stage=stage,
    ).to_dicts()


def python_lines(trace: Trace, *, process_id: int) -> list[dict[str, Any]]:
    """file, line, operation, entries, own_ns, below_ns2, above_ns2: the program's own lines by the
    time of a training loop in which Python itself runs there, the hottest first."""
    asked = asked_of_python_lines(trace, process_id)
    return statement.run(trace, "findings/element_loop", **asked).to_dicts()


def asked_of_python_lines(trace: Trace, process_id: int) -> dict[str, Any]:
    """The parameters of that question."""
    return {
        "process_id": process_id,
        "operations": groups.paths_in(trace, process_id, SIMULATION),
    }


def place_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """file and line of the first row, as a finding takes them; of none: not known."""
    return {name: rows[0][name] for name in ("file", "line")} if rows else {}
