"""`rlscope calibrate -- COMMAND...`: measures exactly what recording costs in a program."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rlscope.commands.options import repeated_program
from rlscope.commands.options.repeated_program import percent
from rlscope.errors import RlscopeError
from rlscope.record.settings import Settings
from rlscope.terminal import stderr
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.calibration.whole_runs import WholeRuns
    from rlscope.costs.calibrations import Run, Subject
    from rlscope.costs.inflation import Combined

_DESCRIPTION = """\
Measures what recording costs in a program. It runs the program several times. In each run it
records some iterations and not others, chosen at random. Reports of this program on this machine
subtract the measured cost from then on. Without a calibration they use probes of their own run.

When a run is precise enough, it ends at an iteration by SystemExit, as with rls-prof
--exit-after-iterations. If the program ends before that, it is started again. The measurements are
kept, and the next `rlscope calibrate` of the same program continues from them."""

_EXAMPLES = """\
examples:
  rlscope calibrate python train.py
      until the cost is known within 0.5 % of the program's time, or for ten minutes
  rlscope calibrate --within 0.2% --limit 3600 -- python train.py --seed 1
      more precisely, for an hour at most
  rlscope calibrate --again python train.py
      forgets all earlier measurements of this program

Call rls.iteration() at the top of the training loop, or let rlscope find the iterations by itself.
If a program has no iterations, whole runs take turns: one with recording, one without. That is the
method of the RL-Scope paper. It takes more runs to be as precise. If the program calls CUDA,
iterations also separate the cost of CUPTI's callbacks from that of its activity records.
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    repeated_program.prepare(parser, within=0.005, meaning="what recording adds")
    parser.add_argument(
        "--again", action="store_true", help="forget all earlier measurements of this program"
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Runs the program until its cost is known well enough."""

    def calibrate(settings: Settings) -> int:
        return _Calibration(settings, options.within, options.limit, options.again).run()

    return repeated_program.run(parser, options, calibrate)


def _say(line: str) -> None:
    stderr.write(f"rlscope calibrate: {visible(line)}\n")


class _Calibration:
    def __init__(self, settings: Settings, within: float, limit: float, again: bool) -> None:
        self._settings = settings
        from rlscope.calibration.runs_in_turns import RUNS_IN_LIMIT

        self._within = within
        self._end = time.monotonic() + limit
        self._seconds = limit / RUNS_IN_LIMIT
        self._again = again
        self._runs: list[Run] = []
        self._whole: WholeRuns | None = None

    def run(self) -> int:
        from rlscope.calibration.runs_in_turns import NoIterations
        from rlscope.calibration.whole_runs import WholeRuns
        from rlscope.costs import calibrations

        made = 0
        # A run that is cut short is known less well than the others, which widens all intervals.
        while not self._is_precise() and self._end - time.monotonic() >= self._seconds / 2:
            _say(f"run {made + 1}: {' '.join(self._settings.command)}")
            try:
                subject, measured = self._measure()
            except NoIterations:
                _say("the program counts no iterations, so whole runs take turns")
                self._whole = WholeRuns(self._settings, _say)
                continue
            except RlscopeError as error:
                raise RlscopeError(f"{error}{self._kept()}") from error
            store = calibrations.Store(subject.program)
            before = [] if self._again and not made else store.runs(subject)
            self._runs = [*before, measured]
            store.keep(subject, self._runs)
            made += 1
            self._tell(subject)
        return self._finish()

    def _measure(self) -> tuple[Subject, Run]:
        """One run, or one with recording and one without."""
        from rlscope.calibration import calibrated_run
        from rlscope.calibration.runs_in_turns import run_in_turns
        from rlscope.rundir.turns_file import BARE, OF_CUDA, RECORDED

        if self._whole is not None:
            with self._whole.pair() as pair:
                return calibrated_run.of_whole_runs(pair)
        with run_in_turns(
            self._settings,
            error=self._within / 3,
            seconds=self._seconds,
            say=_say,
            modes=(BARE, RECORDED, *OF_CUDA),
        ) as ran:
            return calibrated_run.compare(ran)

    def _is_precise(self) -> bool:
        from rlscope.costs import calibrations

        enough = len(self._runs) >= calibrations.FEWEST_RUNS
        return enough and calibrations.shares(self._runs).half_width <= self._within

    def _kept(self) -> str:
        return f"; this run is not kept; kept so far: {_count(self._runs)}"

    def _tell(self, subject: Subject) -> None:
        last = self._runs[-1]
        compared = "whole runs" if self._whole else f"{last.pairs:,} pairs of iterations"
        text = f"{compared}: recording adds {percent(last.share.mean)} to {subject.program}"
        if len(self._runs) > 1:
            from rlscope.costs import calibrations

            share = calibrations.shares(self._runs)
            text += (
                f"; mean of {_count(self._runs)}: {percent(share.mean)} "
                f"({percent(share.low)} to {percent(share.high)})"
            )
        _say(text)

    def _finish(self) -> int:
        from rlscope.costs import calibrations

        if len(self._runs) < calibrations.FEWEST_RUNS:
            _say(
                f"{_count(self._runs)} so far, and a result takes {calibrations.FEWEST_RUNS}: "
                "repeat the command with a longer --limit to go on"
            )
            return 1
        share = calibrations.shares(self._runs)
        reached = share.half_width <= self._within
        _say(
            f"recording adds {percent(share.mean)} ({percent(share.low)} to "
            f"{percent(share.high)}); in a single run it is {percent(share.run_low)} to "
            f"{percent(share.run_high)}"
        )
        of_cuda = calibrations.cuda_shares(self._runs)
        parts = calibrations.sum_of_parts(self._runs)
        which = "single records, without CUPTI," if of_cuda else "single records"
        _say(
            f"by the probes in the same runs, {which} add up to {percent(parts.mean)} "
            f"({percent(parts.low)} to {percent(parts.high)})"
        )
        if of_cuda:
            _tell_cuda(of_cuda)
        if not reached:
            _say(
                f"this is known within {percent(share.half_width)}, not within "
                f"{percent(self._within)}: repeat the command to go on"
            )
        _say("reports of this program on this machine use the result from now on")
        return 0


def _tell_cuda(shares: Mapping[str, Combined]) -> None:
    calls, work, more = shares["calls"], shares["work"], shares["more"]
    _say(
        f"CUPTI's callbacks of CUDA calls add {percent(calls.mean)} ({percent(calls.low)} to "
        f"{percent(calls.high)}) of that, and its records of GPU work {percent(work.mean)} "
        f"({percent(work.low)} to {percent(work.high)})"
    )
    if not more.low <= 0 <= more.high:
        _say(
            f"together they add {percent(more.mean)} ({percent(more.low)} to {percent(more.high)}) "
            "to the sum of what each adds alone, and each gets half of that"
        )


def _count(runs: Sequence[Run]) -> str:
    return {0: "none", 1: "1 run"}.get(len(runs), f"{len(runs)} runs")
