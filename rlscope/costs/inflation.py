r"""What recording adds to a program's CPU time, from iterations with it and without.

    blocks of a run --- estimate() --> what one iteration takes more when it is recorded
           \---------- cuda_parts() > how that divides where CUDA is: CUPTI's two parts, all else
several runs ------ combined() --> the mean over runs, its interval, and that of one further run

A run is one process, and its memory lies where no other's does: runs of one program differ by more
than the iterations inside them say. So the interval comes from the differences between runs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rlscope import student
from rlscope.rundir.turns_file import BARE, CALLS, CPU, RECORDED, WORK, Block

FEWEST_PAIRS = 10
"""A run with fewer says nothing."""
_TRIMMED = 0.1
"""Share of the pairs left out at either end: a neighbour of the machine slowed one of the two."""


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error."""

    mean: float
    error: float

    def over(self, divisor: float) -> Estimate:
        """Both divided."""
        return Estimate(self.mean / divisor, self.error / divisor)


@dataclass(frozen=True)
class Added:
    """What recording adds to one run."""

    pairs: int
    added_ns: Estimate
    """To one iteration."""
    base_ns: float
    """One iteration that is not recorded."""

    @property
    def share(self) -> Estimate:
        """As a part of the time without recording."""
        return self.added_ns.over(self.base_ns)


@dataclass(frozen=True)
class CudaParts:
    """What recording adds to one iteration of a run with CUDA, in nanoseconds. The first three add
    up to what all of it adds."""

    others_ns: Estimate
    """Everything but CUPTI."""
    calls_ns: Estimate
    """CUPTI's callbacks of calls."""
    work_ns: Estimate
    """CUPTI's activity records."""
    more_ns: Estimate
    """What callbacks and activity records add together, less what each adds without the other. Half
    of it is in each of the two."""


@dataclass(frozen=True)
class Combined:
    """The mean over several runs."""

    mean: float
    low: float
    high: float
    """95 % interval of the mean."""
    run_low: float
    run_high: float
    """95 % interval of what one further run has."""

    @property
    def half_width(self) -> float:
        """Half the width of the interval of the mean."""
        return (self.high - self.low) / 2


def estimate(blocks: Iterable[Block]) -> Added | None:
    """What recording adds, from the pairs of a run; None: there are fewer than FEWEST_PAIRS."""
    return _estimate(list(_pairs(blocks)))


def control(blocks: Iterable[Block]) -> Added | None:
    """What the same blocks say of something that adds nothing: of two neighbouring pairs, what is
    not recorded in one against what is not in the other."""
    without = [off for _, off in _pairs(blocks)]
    neighbours = zip(without[::2], without[1::2], strict=False)
    return _estimate([(a, b) for a, b in neighbours if a.process == b.process])


def cuda_parts(blocks: Iterable[Block]) -> CudaParts | None:
    """The parts, from the rounds with all modes; None: there are fewer than FEWEST_PAIRS.

    Callbacks and activity records are on and off in all four ways. What one of them adds is the
    mean of the two differences that it makes, with the other one and without (a 2 x 2 factorial
    design).
    """
    rounds = [*_rounds(blocks)]
    if len(rounds) < FEWEST_PAIRS:
        return None
    return CudaParts(
        _trimmed([ns[CPU] - ns[BARE] for ns in rounds]),
        _trimmed([(ns[CALLS] - ns[CPU] + ns[RECORDED] - ns[WORK]) / 2 for ns in rounds]),
        _trimmed([(ns[WORK] - ns[CPU] + ns[RECORDED] - ns[CALLS]) / 2 for ns in rounds]),
        _trimmed([ns[RECORDED] - ns[CALLS] - ns[WORK] + ns[CPU] for ns in rounds]),
    )


def _rounds(blocks: Iterable[Block]) -> Iterable[dict[str, float]]:
    """Time of one iteration by mode: of each round that has all modes."""
    found: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for block in blocks:
        if block.measured:
            found[block.process, block.round][block.mode] = block.cpu_ns / block.iterations
    wanted = {BARE, CPU, CALLS, WORK, RECORDED}
    return (by_mode for by_mode in found.values() if wanted <= by_mode.keys())


def _estimate(pairs: list[tuple[Block, Block]]) -> Added | None:
    return compared([(on.cpu_ns / on.iterations, off.cpu_ns / off.iterations) for on, off in pairs])


def compared(pairs: Sequence[tuple[float, float]]) -> Added | None:
    """The same of pairs (recorded, not recorded) of any times."""
    if len(pairs) < FEWEST_PAIRS:
        return None
    base = _trimmed([off for _, off in pairs]).mean
    return Added(len(pairs), _trimmed([on - off for on, off in pairs]), base)


def _pairs(blocks: Iterable[Block]) -> Iterable[tuple[Block, Block]]:
    """(recorded, not recorded): the two blocks of each round that are both there."""
    waiting: dict[tuple[int, int], Block] = {}
    for block in blocks:
        if not block.measured or block.mode not in (RECORDED, BARE):
            continue
        other = waiting.pop((block.process, block.round), None)
        if other is None:
            waiting[block.process, block.round] = block
        else:
            yield (block, other) if block.mode == RECORDED else (other, block)


def _trimmed(values: Sequence[float]) -> Estimate:
    """The trimmed mean, with its standard error of Tukey and McLaughlin."""
    ordered = sorted(values)
    out = int(len(ordered) * _TRIMMED)
    kept = ordered[out : len(ordered) - out]
    winsorized = [kept[0]] * out + kept + [kept[-1]] * out
    centre = sum(winsorized) / len(winsorized)
    variance = sum((value - centre) ** 2 for value in winsorized) / (len(winsorized) - 1)
    error = math.sqrt(variance / len(winsorized)) / (1 - 2 * _TRIMMED)
    return Estimate(sum(kept) / len(kept), error)


def combined(runs: Sequence[float]) -> Combined:
    """The mean of runs with Student's t. Runs also differ because each is known only so well; the
    interval of a further run holds that part of the difference, too.

    Raises ValueError: fewer than two runs.
    """
    if len(runs) < 2:
        raise ValueError("one run does not say how far runs differ")
    mean = math.fsum(runs) / len(runs)
    variance = math.fsum((run - mean) ** 2 for run in runs) / (len(runs) - 1)
    t = student.half_width(len(runs) - 1)
    of_mean = t * math.sqrt(variance / len(runs))
    of_run = t * math.sqrt(variance * (1 + 1 / len(runs)))
    return Combined(mean, mean - of_mean, mean + of_mean, mean - of_run, mean + of_run)
