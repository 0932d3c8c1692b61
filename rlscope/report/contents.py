"""The contents of a trace, counted from its files without analysing them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rlscope import _trace, cuts
from rlscope.analysis import verdicts
from rlscope.capture import failure
from rlscope.errors import TraceError
from rlscope.report import bookkeeping
from rlscope.rundir import unrecorded_file

_Lost = tuple[dict[str, Any], dict[str, Any]]  # a process, and a loss of it


@dataclass(frozen=True)
class Contents:
    """Numbers of a whole run."""

    events: int = 0
    by_kind: Mapping[str, int] = field(default_factory=dict)
    """How many of these are of each kind that bookkeeping is priced by."""
    size: int = 0
    """Bytes of the trace files."""
    own_cpu_ns: int = 0
    """CPU time of the profiler's own threads inside the processes, as far as it is known."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Counts of what was not recorded, by kind; without `cuts`."""
    cuts: list[dict[str, Any]] = field(default_factory=list)
    """Rows as those of the analysis `cut`: where recording stopped before the program did."""
    pythons: int = 0
    """Processes in which Python ran."""
    unrecorded: int = 0
    """Processes that are not in the trace, or whose Python is not."""
    nested: list[str] = field(default_factory=list)
    """Directories of runs that other rls-prof recorded, which the program started."""
    duration_ns: int | None = None
    """From the first start of a process to the last end; None: there is no process."""
    running: bool = False
    """Whether a process still records."""
    exit: int | None = None
    """Exit code of the program; None: not known, as where a signal ended it."""
    interrupted: bool = False
    """Whether somebody interrupted it, as by Ctrl-C."""


def read(directory: str) -> Contents:
    """The contents of a trace directory.

    Raises:
        TraceError: it is no trace, or nothing in it can be read.
    """
    try:
        trace = _trace.Directory(directory)
    except _trace.TraceError as error:
        raise TraceError(str(error)) from None
    processes = trace.processes
    rows = [(process, loss) for process in processes for loss in trace.losses(process["index"])]
    lost = Counter[str]()
    for _, loss in rows:
        lost[loss["kind"]] += loss["count"]
    for problem in trace.problems:
        kind = "damaged_bytes" if problem["bytes"] else "unreadable_file"
        lost[kind] += problem["bytes"] or 1
    return Contents(
        events=sum(process["events"] for process in processes),
        by_kind={kind: sum(process[kind] for process in processes) for kind in bookkeeping.COUNTS},
        size=sum(process["file_bytes"] for process in processes),
        own_cpu_ns=sum(process["profiler_cpu_ns"] or 0 for process in processes),
        lost={
            kind: count for kind, count in lost.items() if count and verdicts.is_data_missing(kind)
        },
        cuts=_cuts(trace, rows),
        pythons=sum(bool(process["python"]) for process in processes),
        unrecorded=len(unrecorded_file.read(directory)),
        nested=trace.nested,
        duration_ns=_duration_ns(processes),
        running=verdicts.is_running(processes),
        **_ending(processes),
    )


def _ending(processes: list[dict[str, Any]]) -> dict[str, Any]:
    """How the program ended: the first process that no other one of the run started."""
    main = next((each for each in processes if each["parent_index"] is None), None)
    if main is None:
        return {}
    exception = _exception(main["metadata"].get(failure.METADATA, "null"))
    return {
        "exit": main["exit_code"],
        "interrupted": verdicts.is_interrupted({"exception": exception}),
    }


def _exception(note: str) -> str | None:
    """The type of an exception that nobody caught. Files of strangers may hold any text."""
    try:
        noted = json.loads(note)
        return str(noted["type"]) if noted else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _duration_ns(processes: list[dict[str, Any]]) -> int | None:
    if not processes:
        return None
    start_ns = min(process["start_ns"] for process in processes)
    return int(max(process["end_ns"] for process in processes) - start_ns)


def _cuts(trace: _trace.Directory, rows: list[_Lost]) -> list[dict[str, Any]]:
    start_ns = min((process["start_ns"] for process in trace.processes), default=0)
    by_kind = {kind: [row for row in rows if row[1]["kind"] == kind] for kind in cuts.KINDS}
    return [_cut(trace, kind, of_kind, start_ns) for kind, of_kind in by_kind.items() if of_kind]


def _cut(trace: _trace.Directory, kind: str, rows: list[_Lost], start_ns: int) -> dict[str, Any]:
    known = trace.cut if kind == "cut" else None
    cut_ns = known["time_ns"] if known else min(process["end_ns"] for process, _ in rows)
    return {
        "kind": kind,
        "after_ns": cut_ns - start_ns,
        "left_ns": max(loss["duration_ns"] or 0 for _, loss in rows),
        "processes": len(rows),
        "reason": cuts.reason(known["why"]) if known else "",
    }
