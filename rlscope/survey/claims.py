"""A claim about a survey: one number of each repetition, and the side on which it should lie.

         bound
---------|---------------------->   claimed: above
      [--x--]                       not decided here: the interval contains the bound
               [--x--]              holds: all of the interval is on the claimed side
[-x-]                               does not hold: all of it is on the other
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rlscope.survey.comparison import Absent, NeedsGpu, Number, Repetition
from rlscope.survey.results import Value, value_of, value_of_ratios
from rlscope.survey.runs import STAGES

HOLDS, FAILS = "holds", "does not hold"
UNDECIDED, NEEDS_GPU = "not decided here", "needs a GPU"
ABOVE, BELOW = "above", "below"

TIMES, ENTRIES, SHARES, COSTS = "times", "entries", "shares", "costs"
"""What explains a number: rlscope.survey.reasons."""

Statistic = Callable[[Repetition], Number]


@dataclass(frozen=True)
class Claim:
    """One number that a finding is judged by."""

    what: str
    """Its definition."""
    statistic: Statistic
    """Computes it for one repetition; raises Absent."""
    side: str
    bound: float
    paper: str = ""
    """The paper's value, with its source."""
    percent: bool = False
    """The number is a share; else a ratio."""
    of: str = TIMES
    """What the number is made of."""
    within: Sequence[str] = STAGES
    """The stages that it is of."""


@dataclass(frozen=True)
class Judged:
    """A claim, and what the survey says of it."""

    claim: Claim
    value: Value | None
    """None: no repetition has it."""
    verdict: str
    reason: str = ""
    """Why it is not decided; "" where it is."""
    by: Sequence[tuple[str, ...]] = ()
    """Number.by of each repetition."""


@dataclass(frozen=True)
class Finding:
    """A statement of the paper's survey."""

    key: str
    title: str
    claims: Sequence[Claim]
    """It holds where all of them do."""
    experiment: str
    """The one that makes it again."""
    remark: str = ""
    """How the definition was carried over to today's programs."""
    of_gpu: bool = False
    """It is about GPU work."""


@dataclass(frozen=True)
class JudgedFinding:
    """A finding with its verdict."""

    finding: Finding
    judged: Sequence[Judged] = field(default=())

    @property
    def verdict(self) -> str:
        """For all claims together: one that fails decides, then one that cannot be decided."""
        verdicts = [each.verdict for each in self.judged]
        for decisive in (FAILS, NEEDS_GPU, UNDECIDED):
            if decisive in verdicts:
                return decisive
        return HOLDS


def judge(finding: Finding, repetitions: Sequence[Repetition]) -> JudgedFinding:
    """The finding with the values that all repetitions give it."""
    if finding.of_gpu and (reason := _gpu_absence(repetitions)):
        absent = [Judged(claim, None, NEEDS_GPU, reason) for claim in finding.claims]
        return JudgedFinding(finding, absent)
    return JudgedFinding(finding, [_judge(claim, repetitions) for claim in finding.claims])


def _gpu_absence(repetitions: Sequence[Repetition]) -> str:
    """Why no run of any cell has GPU work; "" where one has, or nothing ran."""
    runs = [ran.run for each in repetitions for ran in each.ran]
    return runs[0].gpu_absence if runs and not any(run.has_gpu for run in runs) else ""


def _judge(claim: Claim, repetitions: Sequence[Repetition]) -> Judged:
    if not repetitions:
        return Judged(claim, None, UNDECIDED, "no run has numbers")
    try:
        numbers = [claim.statistic(each) for each in repetitions]
    except NeedsGpu as absent:
        return Judged(claim, None, NEEDS_GPU, str(absent))
    except Absent as absent:
        return Judged(claim, None, UNDECIDED, str(absent))
    values, by = [each.value for each in numbers], [each.by for each in numbers]
    value = value_of(values) if claim.percent else value_of_ratios(values)
    if value is None or value.low is None or value.high is None:
        return Judged(claim, value, UNDECIDED, "one repetition has no interval", by)
    verdict = decide(claim.side, claim.bound, value.low, value.high)
    reason = "" if verdict != UNDECIDED else "the interval contains the bound"
    return Judged(claim, value, verdict, reason, by)


def decide(side: str, bound: float, low: float, high: float) -> str:
    """The verdict on an interval; one that only touches the bound decides nothing.

    >>> decide(ABOVE, 1.0, 1.1, 1.3), decide(ABOVE, 1.0, 0.9, 1.3), decide(BELOW, 1.0, 1.1, 1.3)
    ('holds', 'not decided here', 'does not hold')
    """
    claimed, other = (low > bound, high < bound) if side == ABOVE else (high < bound, low > bound)
    return HOLDS if claimed else FAILS if other else UNDECIDED
