"""One run of `rlscope calibrate`: what iterations showed, beside what the costs of records say.

These costs are the run's own. So its trace is opened without the calibration that earlier runs of
the program have made.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, NamedTuple

from rlscope.analysis.interception import interception
from rlscope.calibration.runs_in_turns import RunError, RunInTurns, TooShort
from rlscope.calibration.whole_runs import Pair
from rlscope.costs import calibrations, inflation
from rlscope.costs.calibrations import CudaRun, Run, Subject
from rlscope.opening import Trace
from rlscope.rundir.turns_file import OF_CUDA

_OVERHEAD = """
SELECT CAST(SUM(overhead_ns) FILTER (kind NOT LIKE 'CUDA %') AS DOUBLE) AS ns,
  STRING_AGG(DISTINCT kind, ', ') FILTER (overhead_ns IS NULL) AS unknown,
  CAST(COALESCE(SUM(count) FILTER (kind LIKE 'CUDA %'), 0) AS BIGINT) AS calls,
  CAST(COALESCE(SUM(count) FILTER (kind = 'CUDA submission'), 0) AS BIGINT) AS submissions
FROM overhead JOIN process USING (process_id)
WHERE kind NOT IN ('clamped', 'ring wait') AND {}
"""
_PROFILER = "SELECT CAST(SUM(profiler_cpu_ns) AS BIGINT) AS ns FROM process"
_COSTS = """
SELECT kind, mean_ns, inside FROM calibration
WHERE kind <> 'ring wait' AND kind NOT LIKE 'CUDA %'
"""


class Records(NamedTuple):
    """The records of a run's processes, and what the run itself says that they cost."""

    said_ns: float
    """All but those of CUDA."""
    costs: dict[str, tuple[float, float]]
    """One record, by kind: nanoseconds, part inside."""
    cuda_calls: int
    cuda_submissions: int


def compare(run: RunInTurns) -> tuple[Subject, Run]:
    """What the run says of its program.

    Raises RunError: it says nothing.
    """
    subject = calibrations.read_subject(run.directory)
    if subject is None:
        raise RunError("run.json of the run does not say what ran")
    processes = ", ".join(map(str, sorted(run.processes)))
    records = records_of(run.directory, f"os_pid IN ({processes})")
    return subject, Run(
        time=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        pairs=run.added.pairs,
        added_ns=run.added.added_ns.mean,
        error_ns=run.added.added_ns.error,
        base_ns=run.added.base_ns,
        overhead_ns=records.said_ns / run.recorded,
        costs=records.costs,
        cuda=_of_cuda(run, records),
    )


def of_whole_runs(pair: Pair) -> tuple[Subject, Run]:
    """The same of a program without iterations, from two runs of it.

    Raises RunError: they say nothing.
    """
    subject = calibrations.read_subject(pair.directory)
    if subject is None:
        raise RunError("run.json of the run does not say what ran")
    records = records_of(pair.directory, "TRUE")
    if records.cuda_calls:
        raise RunError("what CUPTI costs is only seen by iterations: call rls.iteration()")
    return subject, Run(
        time=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        pairs=1,
        added_ns=pair.recorded_ns - pair.bare_ns - _once_ns(pair.directory),
        error_ns=0.0,
        base_ns=pair.bare_ns,
        overhead_ns=records.said_ns,
        costs=records.costs,
    )


def _once_ns(directory: str) -> int:
    """What recording took once, and rlscope's own threads: no record costs that."""
    with Trace(directory, calibrated=False) as trace:
        ((profiler_ns,),) = (row.values() for row in trace.sql(_PROFILER).to_dicts())
        once = interception(trace)
        return sum((profiler_ns or 0, *once["scan_ns"], *once["startup_ns"]))


def _of_cuda(run: RunInTurns, records: Records) -> CudaRun | None:
    if not records.cuda_calls:
        return None
    parts = inflation.cuda_parts(run.blocks)
    if parts is None:
        rounds = sum(block.measured and block.mode == OF_CUDA[0] for block in run.blocks)
        raise RunError(
            f"the program ended after {rounds:,} rounds of iterations with CUDA: that is fewer "
            f"than {inflation.FEWEST_PAIRS}, let it run for longer, with a longer --limit"
        )
    return CudaRun(
        others_ns=parts.others_ns.mean,
        calls_ns=parts.calls_ns.mean,
        work_ns=parts.work_ns.mean,
        more_ns=parts.more_ns.mean,
        calls=records.cuda_calls / run.with_calls,
        submissions=records.cuda_submissions / run.with_calls,
    )


def records_of(directory: str, which: str) -> Records:
    """The records that processes made; `which` is a condition on relation `process`.

    Raises RunError: the cost of some is told neither by a probe nor by a loop, or there are none.
    """
    with Trace(directory, calibrated=False) as trace:
        row: dict[str, Any]
        (row,) = trace.sql(_OVERHEAD.format(which)).to_dicts()
        costs = trace.sql(_COSTS).to_dicts()
    if not costs:
        raise TooShort
    if row["unknown"]:
        raise RunError(f"the cost of these records cannot be calibrated yet: {row['unknown']}")
    if (row["ns"] or 0) <= 0:
        raise TooShort
    of_kinds = {each["kind"]: (each["mean_ns"], each["inside"]) for each in costs}
    return Records(row["ns"], of_kinds, row["calls"], row["submissions"])
