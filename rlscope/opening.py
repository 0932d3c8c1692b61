"""Opens recorded runs: what `rls.load` does, and every verb that reads a trace.

trace.table("breakdown")                     a relation, as a Table
trace.sql("SELECT ... FROM breakdown ...")   SQL over the relations
rls.analysis.breakdown(trace, by=["layer"])  an analysis: Trace -> Table

rls.load_many("rlscope_out").sql("...")      SQL over several runs, by run_id
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from rlscope.costs import calibrations
from rlscope.errors import TraceError
from rlscope.relations.rows.progress import Tell
from rlscope.relations.trace import Trace
from rlscope.relations.traces import Traces
from rlscope.rundir import run_search

__all__ = ["Trace", "Traces", "load", "load_many"]


def load(
    path: str | os.PathLike[str],
    *,
    unrestricted: bool = False,
    progress: Tell | None = None,
    say: Callable[[str], None] | None = None,
    memory: int | None = None,
) -> Trace:
    """Opens the trace directory of a run, which may still be going.

    The first time, and again whenever a trace file changed, the files are swept and the results
    kept in DIR/tables; where that cannot be written they are kept in memory. If `rlscope
    calibrate` measured the program on this machine, corrected times come from there. If it did so
    for another machine, release or choice of options, `say` is told which.

    Args:
        path: the directory. It may come from a stranger.
        unrestricted: let SQL statements do what DuckDB can: read and write any file, install
            extensions. Without it a statement reads the relations and nothing else, so that it
            may come from elsewhere than from the author of the program.
        progress: while tables are made it is called a few times a second, from a thread of its own,
            with the part that is done, 0 to 1; with 1 at the end.
        say: takes a sentence for the user; None: it becomes a warning at the caller's line.
        memory: bytes of memory that SQL statements may use, and of disk; None: what DuckDB takes.

    Raises:
        TraceError: not a trace directory, or nothing in it can be read.
    """
    _tell_of_calibration(path, say)
    return Trace(path, unrestricted=unrestricted, progress=progress, memory=memory)


def load_many(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    unrestricted: bool = False,
    open_trace: Callable[[Path], Trace] = Trace,
    say: Callable[[str], None] | None = None,
) -> Traces:
    """Opens several runs at once: one SQL statement reads them all.

        runs = rls.load_many("runs")
        runs.sql("SELECT run_id, sum(duration_ns) AS ns FROM breakdown GROUP BY run_id")

    Every relation has a column `run_id` in front; relation `run` has a row for each run.

    Args:
        paths: the directories; or one folder, of which every run below it is opened.
        unrestricted: as for `load`.
        open_trace: opens a run whose tables are missing or out of date.
        say: as for `load`.

    Raises:
        TraceError: there is none, one is no trace or cannot be read, or two are of one run.
    """
    found = _below(paths) if isinstance(paths, (str, os.PathLike)) else [*map(Path, paths)]
    for each in found:
        _tell_of_calibration(each, say)
    return Traces(found, unrestricted=unrestricted, open_trace=open_trace)


def _tell_of_calibration(path: str | os.PathLike[str], say: Callable[[str], None] | None) -> None:
    """Says why the program's calibration is not used, if there is one."""
    if os.fspath(path) and (reason := calibrations.why_unused(path)):
        (say or _warn)(reason)


def _warn(reason: str) -> None:
    """Warns at the line that called rlscope."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(reason, stacklevel=level)


def _below(folder: str | os.PathLike[str]) -> list[Path]:
    try:
        found = run_search.find(folder)
    except OSError as error:
        raise TraceError(f"cannot read {os.fspath(folder)}: {error.strerror}") from error
    if not found:
        raise TraceError(f"no trace directory at or below {os.fspath(folder)}")
    return [*map(Path, found)]
