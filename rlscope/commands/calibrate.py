"""`rlscope calibrate -- COMMAND...`: measures what recording costs in this program."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rlscope.commands.options import repeated_program
from rlscope.commands.options.repeated_program import percent
from rlscope.errors import RlscopeError
from rlscope.record.program import Settings
from rlscope.terminal import stderr
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.calibration.whole_runs import WholeRuns
    from rlscope.costs.calibrations import Run, Subject
    from rlscope.costs.inflation import Combined

_DESCRIPTION = """\
Measures what recording costs in a program: runs it several times, and in each run records some
iterations and others not, at random. Reports of this program on this machine take that cost out
from then on, in place of what probes in their own run say.

A run ends at an iteration, by SystemExit as with rls-prof --exit-after-iterations, when it is
precise enough; a program that ends by itself is started again. What was measured is kept, and the
next `rlscope calibrate` of the same program goes on from there."""

_EXAMPLES = """\
examples:
  rlscope calibrate python train.py
      until the cost is known within 0.5 % of the program's time, or for ten minutes
  rlscope calibrate --within 0.2% --limit 3600 -- python train.py --seed 1
      more precisely, for an hour at most
  rlscope calibrate --again python train.py
      forgets what was measured of this program before

Iterations are rls.iteration() at the top of the training loop, or those that rlscope finds by
itself. Of a program without any, whole runs with recording and without take turns, as those of the
RL-Scope paper do: that takes more runs to be as precise. Where a program calls CUDA, iterations
also tell the cost of CUPTI's callbacks and of its activity records apart.
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    repeated_program.prepare(parser, within=0.005, meaning="of what recording adds")
    parser.add_argument(
        "--again", action="store_true", help="forget what was measured of this program before"
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
                _say("the program counts no iterations: whole runs take turns")
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
        return f"; this run is not kept, before it: {_count(self._runs)}"

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
                f"runs so far: {_count(self._runs)}, but {calibrations.FEWEST_RUNS} are needed: "
                "repeat the command to go on, with a longer --limit"
            )
            return 1
        share = calibrations.shares(self._runs)
        reached = share.half_width <= self._within
        _say(
            f"recording adds {percent(share.mean)} ({percent(share.low)} to "
            f"{percent(share.high)}); a single run {percent(share.run_low)} to "
            f"{percent(share.run_high)}"
        )
        of_cuda = calibrations.cuda_shares(self._runs)
        parts = calibrations.sum_of_parts(self._runs)
        which = "single records, without CUPTI," if of_cuda else "single records"
        _say(
            f"{which} add up to {percent(parts.mean)} ({percent(parts.low)} to "
            f"{percent(parts.high)}), as probes in the same runs say"
        )
        if of_cuda:
            _tell_cuda(of_cuda)
        if not reached:
            _say(
                f"that is within {percent(share.half_width)}, not {percent(self._within)}: "
                "repeat the command to go on"
            )
        _say("reports of this program on this machine use it from now on")
        return 0


def _tell_cuda(shares: Mapping[str, Combined]) -> None:
    calls, work, more = shares["calls"], shares["work"], shares["more"]
    _say(
        f"of that, CUPTI's callbacks of CUDA calls {percent(calls.mean)} ({percent(calls.low)} to "
        f"{percent(calls.high)}), its records of GPU work {percent(work.mean)} "
        f"({percent(work.low)} to {percent(work.high)})"
    )
    if not more.low <= 0 <= more.high:
        _say(
            f"both at once add {percent(more.mean)} ({percent(more.low)} to {percent(more.high)}) "
            "to the sum of what each adds alone: half of it counts for either"
        )


def _count(runs: Sequence[Run]) -> str:
    return {0: "none", 1: "1 run"}.get(len(runs), f"{len(runs)} runs")
