"""The rounds of `rlscope validate`: corrected time against the time without recording."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rlscope.analysis import overhead
from rlscope.analysis.coverage import coverage
from rlscope.analysis.overhead import OsPids
from rlscope.calibration import operation_bias
from rlscope.calibration.operation_bias import OperationsOfRun
from rlscope.calibration.runs_in_turns import (
    RunError,
    RunInTurns,
    Say,
    TooShort,
    run_in_turns,
)
from rlscope.calibration.whole_runs import Pair
from rlscope.costs import calibrations, inflation
from rlscope.costs.inflation import Combined, combined
from rlscope.opening import load
from rlscope.record.settings import Settings
from rlscope.rundir import stopwatch_file, turns_file

INSIDE, OUTSIDE, UNDECIDED = "inside", "outside", "undecided"
MOST_BIAS = 0.03
"""What corrected time may be off by, as a part of the time without recording."""


@dataclass(frozen=True)
class Round:
    """One comparison. All numbers but the method are shares of the time without recording."""

    added: float
    """What recording added."""
    removed: float
    removed_low: float
    removed_high: float
    """What the correction takes out of the recorded time, with the ends of its interval."""
    control: float | None
    """What the program without recording takes more than itself: 0 but for chance."""
    method: str
    """How the cost of most records was measured."""
    operations: OperationsOfRun = field(default_factory=OperationsOfRun)
    """The same of each operation."""
    unknown_costs: str | None = None
    """Kinds of records that the correction leaves in."""

    @property
    def bias(self) -> float:
        """What is left: (corrected - without) / without."""
        return self.added - self.removed

    @property
    def holds(self) -> bool:
        """The interval of the corrected time has the time without recording in it."""
        return self.removed_low <= self.added <= self.removed_high


@dataclass(frozen=True)
class Verdict:
    """All rounds together."""

    rounds: int
    added: Combined
    bias: Combined
    control: Combined | None
    claimed: tuple[float, float]
    """The bias at the ends of the interval that the correction claims, mean over the rounds."""
    held: int
    """Rounds in which it had 0 in it."""
    method: str
    unknown_costs: str | None

    @property
    def word(self) -> str:
        """INSIDE where the bias is within MOST_BIAS, OUTSIDE where it is not, else UNDECIDED."""
        if self.bias.low >= -MOST_BIAS and self.bias.high <= MOST_BIAS:
            return INSIDE
        if self.bias.low > MOST_BIAS or self.bias.high < -MOST_BIAS:
            return OUTSIDE
        return UNDECIDED

    @property
    def holds(self) -> bool:
        """The interval that the correction claims has the time without recording in it, as far as
        the rounds can tell."""
        unknown = self.bias.half_width
        return self.claimed[0] - unknown <= 0 <= self.claimed[1] + unknown


def judge(rounds: list[Round]) -> Verdict:
    """Raises ValueError: fewer than two rounds."""
    controls = [each.control for each in rounds if each.control is not None]
    lows = [each.added - each.removed_high for each in rounds]
    highs = [each.added - each.removed_low for each in rounds]
    return Verdict(
        len(rounds),
        combined([each.added for each in rounds]),
        combined([each.bias for each in rounds]),
        combined(controls) if len(controls) > 1 else None,
        (sum(lows) / len(lows), sum(highs) / len(highs)),
        sum(each.holds for each in rounds),
        rounds[-1].method,
        rounds[-1].unknown_costs,
    )


@dataclass(frozen=True)
class OperationVerdicts:
    """The same of each operation."""

    verdicts: dict[str, Verdict]
    """By path, the longest first."""
    left_out: int
    """Operations that take less than operation_bias.LEAST_SHARE of the loop, or are in too few
    blocks."""
    absent: str | None
    """Why there are none."""


def judge_operations(rounds: list[Round]) -> OperationVerdicts:
    """An operation needs two rounds, as the whole does."""
    seen: dict[str, list[Round]] = {}
    others: set[str] = set()
    for each in rounds:
        others |= each.operations.left_out
        for path, bias in each.operations.biases.items():
            shares = (bias.added, bias.removed, bias.removed_low, bias.removed_high)
            seen.setdefault(path, []).append(Round(*shares, bias.control, each.method))
    verdicts = {path: judge(found) for path, found in seen.items() if len(found) > 1}
    left_out = (others | seen.keys()) - verdicts.keys()
    absent = None if verdicts or left_out else rounds[-1].operations.absent
    return OperationVerdicts(verdicts, len(left_out), absent)


def by_iterations(settings: Settings, *, error: float, seconds: float, say: Say) -> Round:
    """One run whose iterations are recorded in turns; see runs_in_turns.run_in_turns().

    Raises:
        NoIterations: the program has none.
        RunError: the program failed, or its iterations say too little.
    """
    modes = (turns_file.BARE, turns_file.RECORDED, turns_file.TIMED)
    with run_in_turns(settings, error=error, seconds=seconds, say=say, modes=modes) as run:
        return _compare(run)


def _compare(run: RunInTurns) -> Round:
    removed = _removed(run.directory, run.processes)
    control = inflation.control(run.blocks)
    per_iteration = 1 / run.recorded / run.added.base_ns
    timed, recorded = stopwatch_file.read(stopwatch_file.beside(run.file))
    return Round(
        run.added.share.mean,
        removed["mean"] * per_iteration,
        removed["low"] * per_iteration,
        removed["high"] * per_iteration,
        control.share.mean if control is not None else None,
        removed["method"],
        operation_bias.compare(run.directory, timed, recorded),
        removed["unknown_costs"],
    )


def _removed(directory: str, os_pids: OsPids) -> dict[str, Any]:
    """Raises TooShort: no record has a cost."""
    if reason := calibrations.why_unused(directory):
        raise RunError(reason)
    with load(directory) as trace:
        row: dict[str, Any]
        (row,) = overhead.removed(trace, os_pids).to_dicts()
        (facts,) = coverage(trace).to_dicts()
    if row["mean"] is None:
        raise TooShort
    return row | {"unknown_costs": facts["unknown_costs"]}


def of_whole_runs(pair: Pair) -> Round:
    """Raises RunError: the program was too short."""
    removed = _removed(pair.directory, None)
    return Round(
        pair.recorded_ns / pair.bare_ns - 1,
        removed["mean"] / pair.bare_ns,
        removed["low"] / pair.bare_ns,
        removed["high"] / pair.bare_ns,
        pair.control,
        removed["method"],
        OperationsOfRun(absent="the program counts no iterations"),
        removed["unknown_costs"],
    )
