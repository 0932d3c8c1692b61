"""One run of `rlscope calibrate`: what iterations showed, beside what the costs of records say."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from rlscope import calibrations
from rlscope.calibrations import Run, Subject
from rlscope.load import load
from rlscope.runs_in_turns import RunError, RunInTurns, TooShort

_OVERHEAD = """
SELECT CAST(SUM(overhead_ns) AS DOUBLE) AS ns,
  STRING_AGG(DISTINCT kind, ', ') FILTER (overhead_ns IS NULL) AS unknown
FROM overhead JOIN process USING (process_id)
WHERE kind <> 'clamped' AND os_pid IN ({})
"""


def compare(run: RunInTurns) -> tuple[Subject, Run]:
    """What the run says of its program.

    Raises RunError: it says nothing.
    """
    subject = calibrations.read_subject(run.directory)
    if subject is None:
        raise RunError("run.json of the run does not say what ran")
    said_ns, costs = costs_of(run.processes, run.directory)
    if said_ns <= 0:
        raise TooShort
    return subject, Run(
        time=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        pairs=run.added.pairs,
        added_ns=run.added.added_ns.mean,
        error_ns=run.added.added_ns.error,
        base_ns=run.added.base_ns,
        overhead_ns=said_ns / run.recorded,
        costs=costs,
    )


def costs_of(processes: set[int], directory: str) -> tuple[float, dict[str, tuple[float, float]]]:
    """What all records of the processes cost as the run's own probes say, and one of each kind.

    Raises RunError: they made records whose cost neither a probe nor a loop tells.
    """
    with load(directory) as trace:
        row: dict[str, Any]
        (row,) = trace.sql(_OVERHEAD.format(", ".join(map(str, sorted(processes))))).to_dicts()
        costs = trace.sql("SELECT kind, mean_ns, inside FROM calibration").to_dicts()
    if not costs:
        raise TooShort
    if row["unknown"]:
        raise RunError(f"the cost of these records cannot be calibrated yet: {row['unknown']}")
    return row["ns"] or 0.0, {each["kind"]: (each["mean_ns"], each["inside"]) for each in costs}
