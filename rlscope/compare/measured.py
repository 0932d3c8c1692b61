"""What a comparison takes from one run: plain values, read while its trace is open."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rlscope.analysis import advice, buckets, compared, coverage, lines, run_facts
from rlscope.analysis.critical_loop import critical_loop
from rlscope.analysis.operations import BETWEEN, OUTSIDE
from rlscope.analysis.transitions import process_transitions
from rlscope.compare.readings import BLOCKS, Histogram, Values
from rlscope.relations.groups import SIMULATION, outermost_of
from rlscope.report import limits

if TYPE_CHECKING:
    from rlscope.opening import Trace

Row = dict[str, Any]
State = tuple[str, str]
"""Path of an operation, and layer."""

_POINTS = 1000
"""Iterations of a longer run are taken together, neighbours with neighbours."""
_KERNELS = 200
_METADATA = 60
_ESTIMATED = "gpu_unrecorded"
"""A loss for which estimates stand."""
_OF_ONE_RUN = "gpu_share"
"""Metadata with times of its run in it: no two runs have the same."""


@dataclass(frozen=True, eq=False)
class Measured:
    """One run. Times are in ns. A run is equal to itself only."""

    directory: str
    facts: Mapping[str, str]
    """Kind -> value: what it was made with."""
    loop_ns: int
    """Time of the loop that is compared; without one, all time of the longest process."""
    run_ns: int
    iterations: int
    """Complete ones; 0: what is compared is the run as a whole."""
    states: Mapping[State, int]
    corrected: Mapping[State, int | None]
    """The same without what recording cost."""
    series: Mapping[State, Values] = field(default_factory=dict)
    """An iteration's time in each state, by group of neighbours in their order; empty without
    iterations."""
    entries: Mapping[str, float] = field(default_factory=dict)
    """How often an operation is entered in an iteration; between operations once."""
    entry_times: Mapping[str, Histogram] = field(default_factory=dict)
    """How long these entries take; empty without iterations."""
    steps: float = 0.0
    """Environment steps of an iteration; 0: not known."""
    cpu_ns: int | None = None
    """CPU time of the process over its whole life."""
    crossings: Mapping[str, float] = field(default_factory=dict)
    """Entries into another layer in an iteration, by operation and layers."""
    lines: Sequence[Row] = ()
    """Rows of lines.hot_lines()."""
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Path of a file of the program -> its lines, as far as they were kept."""
    kernels: Mapping[str, int] = field(default_factory=dict)
    findings: Sequence[Row] = ()
    losses: Sequence[str] = ()
    """What was lost or damaged, in words."""
    frames: Sequence[Row] = ()
    frame_parts: Sequence[Row] = ()
    timeline: Sequence[Row] = ()
    """Rows of buckets.timeline_layer() of the process."""
    process: str = ""
    run_id: str = ""
    """Identity of the run, which its copies share; "": not known."""

    @property
    def units(self) -> int:
        """What a total is divided by: iterations, or 1 for a run without any."""
        return self.iterations or 1


def read(trace: Trace) -> Measured:
    """Raises RlscopeError when a table cannot be read."""
    loop = critical_loop(trace)
    process = _process(trace, None if loop is None else loop.process_id)
    process_id = process["process_id"]
    rows = compared.loop_states(trace, process_id=process_id).to_dicts()
    series = _series(trace, process_id) if loop is not None and loop.iterations else {}
    entries = _entries(trace, process_id) if series else {}
    return Measured(
        directory=str(trace.path),
        facts=_facts(trace),
        loop_ns=sum(row["duration_ns"] for row in rows),
        run_ns=process["run_ns"],
        iterations=loop.iterations if loop is not None else 0,
        states={(row["operation"], row["layer"]): row["duration_ns"] for row in rows},
        corrected={(row["operation"], row["layer"]): row["corrected_ns"] for row in rows},
        series=series,
        entries=entries,
        entry_times=_entry_times(trace, process_id) if series else {},
        steps=sum(entries[path] for path in outermost_of(SIMULATION, entries)),
        cpu_ns=process["cpu_ns"],
        crossings=_crossings(trace, process_id),
        lines=lines.hot_lines(trace, lines=limits.LINES).to_dicts(),
        sources=_sources(trace),
        kernels={
            row["function"]: row["duration_ns"]
            for row in compared.kernels(trace, kernels=_KERNELS).to_dicts()
        },
        findings=[dict(row) for row in advice.advice(trace).findings],
        losses=[
            f"{row['kind']} x {row['count']:,}"
            for row in coverage.loss_summary(trace, rows=limits.ROWS).to_dicts()
            if row["kind"] != _ESTIMATED
        ],
        frames=lines.flame_frames(trace, frames=limits.FRAMES).to_dicts(),
        frame_parts=lines.flame_parts(trace, frames=limits.FRAMES).to_dicts(),
        timeline=[
            row
            for row in buckets.timeline_layer(
                trace, buckets=limits.BUCKETS, processes=limits.TIMELINE_PROCESSES
            ).to_dicts()
            if row["process_id"] == process_id
        ],
        process=process["name"] or "",
        run_id=trace.table("run")["run_id"][0] or "",
    )


def _process(trace: Trace, process_id: int | None) -> Row:
    """The process that is compared: that of the loop, else the one with the longest life."""
    rows = compared.processes(trace).to_dicts()
    chosen = [row for row in rows if row["process_id"] == process_id]
    return (chosen or rows)[0]


def _facts(trace: Trace) -> dict[str, str]:
    found = {row["kind"]: str(row["value"]) for row in compared.facts(trace).to_dicts()}
    for row in run_facts.metadata_value(trace, rows=_METADATA).to_dicts():
        if row["key"] != _OF_ONE_RUN:
            found.setdefault(f"metadata {row['key']}", row["value"])
    options = trace.table("run")["options"][0]
    for name, value in (json.loads(options) if options else {}).items():
        if name not in ("output", "force", "command", "name"):
            found[f"option {name}"] = json.dumps(value)
    return found


def _series(trace: Trace, process_id: int) -> dict[State, Values]:
    rows = compared.iteration_states(trace, process_id=process_id, points=_POINTS).to_dicts()
    points = 1 + max((row["point"] for row in rows), default=-1)
    series: dict[State, Values] = defaultdict(lambda: np.zeros(points))
    for row in rows:
        series[row["operation"], row["layer"]][row["point"]] = row["mean_ns"]
    return dict(series)


def _entries(trace: Trace, process_id: int) -> dict[str, float]:
    rows = compared.entries(trace, process_id=process_id).to_dicts()
    return {OUTSIDE: 1.0, **{row["operation"]: float(row["per_iteration"]) for row in rows}}


def _entry_times(trace: Trace, process_id: int) -> dict[str, Histogram]:
    found: dict[str, dict[tuple[int, int], int]] = defaultdict(dict)
    rows = compared.entry_times(trace, process_id=process_id, blocks=BLOCKS).to_dicts()
    for row in rows:
        found[row["operation"]][row["block"], row["step"]] = row["entries"]
    return dict(found)


def _sources(trace: Trace) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for row in compared.sources(trace).to_dicts():
        found[row["file"]].append(row["text"])
    return {file: tuple(texts) for file, texts in found.items()}


def _crossings(trace: Trace, process_id: int) -> dict[str, float]:
    return {
        f"{BETWEEN if row['operation'] == OUTSIDE else row['operation']}: {row['from_layer']} to "
        f"{row['to_layer']}": row["per_iteration"]
        for row in process_transitions(trace, process_id).to_dicts()
        if row["per_iteration"]
    }
