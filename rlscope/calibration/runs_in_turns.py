"""Runs of a program whose iterations are recorded in turns: `rlscope calibrate` and `validate`."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rlscope.capture import turns
from rlscope.costs import inflation
from rlscope.costs.inflation import Added
from rlscope.errors import RlscopeError
from rlscope.record.default_directory import DEFAULT_PARENT
from rlscope.record.program import Companion, Outcome, record
from rlscope.record.settings import Settings
from rlscope.recorder import runtime
from rlscope.report import closing
from rlscope.rundir import turns_file
from rlscope.rundir.turns_file import BARE, NOT_RECORDED, RECORDED, WITH_CALLS, Block

Say = Callable[[str], None]

RUNS_IN_LIMIT = 6
"""A run may take such a part of the limit, so that there are several."""
_LOOK_SECONDS = 2.0
_SAY_SECONDS = 10.0
_QUIET_SECONDS = 30.0
_MOST_BYTES = 32 << 20  # more records than these say little more, and take long to analyse
_SHORT = "the program ran too briefly to tell what a record costs: let it run longer"


class RunError(RlscopeError):
    """The iterations of the program cannot be compared; the message says why."""


class NoIterations(RunError):
    """None was counted."""

    def __init__(self) -> None:
        super().__init__(
            "the program has no iterations to compare: call rls.iteration() at the top of its "
            "training loop, and let it run for some dozens of iterations"
        )


class TooShort(RunError):
    """So few records, and so little CPU time, that no record has a cost."""

    def __init__(self) -> None:
        super().__init__(_SHORT)


@dataclass(frozen=True)
class RunInTurns:
    """One run, while its trace is there."""

    directory: str
    """The trace, analysed by nobody so far."""
    file: str
    """The file of the blocks."""
    blocks: list[Block]
    added: Added

    @property
    def processes(self) -> set[int]:
        """Those with iterations, as the kernel numbers them."""
        return {block.process for block in self.blocks}

    @property
    def recorded(self) -> int:
        """Iterations that the trace has, of all processes."""
        return self._iterations(block for block in self.blocks if block.mode not in NOT_RECORDED)

    @property
    def with_calls(self) -> int:
        """Iterations whose CUDA calls the trace has."""
        return self._iterations(block for block in self.blocks if block.mode in WITH_CALLS)

    @staticmethod
    def _iterations(blocks: Iterable[Block]) -> int:
        return sum(block.iterations for block in blocks)


class _Watch:
    """Follows the blocks of a run while it goes on, and ends it when it is precise enough."""

    def __init__(
        self, file: str, modes: Sequence[str], error: float, seconds: float, say: Say
    ) -> None:
        """The run ends when the standard error of the share is as small and pairs suffice for the
        control, or after so long; where it has too few pairs by then, after the whole limit."""
        self._file = file
        self._modes = modes
        self._error = error
        self._seconds = seconds
        self._say = say
        self._begin = self._said = time.monotonic()
        self.ended = False
        """The program was asked to end."""

    def companion(self) -> Companion:
        """What record() needs."""
        variables = turns.variables(self._file, self._modes)
        return Companion(variables, _LOOK_SECONDS, self._look)

    def _look(self, drainer: runtime.Drainer) -> None:
        if self.ended:
            return
        blocks = turns_file.read(self._file)
        added = inflation.estimate(blocks)
        now = time.monotonic()
        spent = now - self._begin
        long = spent >= self._seconds or drainer.stats()["bytes"] >= _MOST_BYTES
        enough = added is not None and (long or self._is_precise(added, blocks))
        if enough or spent >= RUNS_IN_LIMIT * self._seconds:
            self.ended = True
            drainer.end_program()
        elif now - self._said >= (_SAY_SECONDS if added is not None else _QUIET_SECONDS):
            self._said = now
            self._say(_progress(added))

    def _is_precise(self, added: Added, blocks: Sequence[Block]) -> bool:
        return added.share.error <= self._error and inflation.control(blocks) is not None


def _progress(added: Added | None) -> str:
    if added is None:
        return f"fewer than {inflation.FEWEST_PAIRS} pairs of iterations so far"
    share = added.share
    return (
        f"{added.pairs:,} pairs of iterations: recording adds {100 * share.mean:.2f} % "
        f"(standard error {100 * share.error:.2f} %)"
    )


@contextlib.contextmanager
def run_in_turns(
    settings: Settings,
    *,
    error: float,
    seconds: float,
    say: Say,
    modes: Sequence[str] = (BARE, RECORDED),
) -> Iterator[RunInTurns]:
    """Runs the program once; its trace is gone at the end of the block.

    Args:
        settings: of the recording; `output` is ignored.
        error: standard error of the share of time that recording adds which is precise enough.
        seconds: the program is ended at an iteration after so many.
        modes: of the blocks of a round.

    Raises:
        RunError: the program failed, or its iterations say too little.
        CommandNotFound, RlscopeError: as record().
    """
    with folder_of_run() as folder:
        file = os.path.join(folder, "turns")
        watch = _Watch(os.path.abspath(file), modes, error, seconds, say)
        trace = os.path.join(folder, "trace")
        outcome = recorded_run(settings, trace, say, watch.companion())
        if outcome.ending.status and not watch.ended:
            raise RunError(outcome.ending.describe())
        blocks = turns_file.read(file)
        added = inflation.estimate(blocks)
        if added is None:
            # A program is ended at an iteration only, and one that counts them has a file.
            raise _too_few(blocks, was_cut=watch.ended and os.path.exists(file))
        yield RunInTurns(outcome.directory, file, blocks, added)


def recorded_run(
    settings: Settings, directory: str, say: Say, companion: Companion | None = None
) -> Outcome:
    """Records the program, and keeps the costs of the loop at the end with its trace."""
    with _streams_kept():
        outcome = record(replace(settings, output=directory), say, companion)
    held = closing.read_contents(outcome)
    if held is not None:
        closing.measure_price(outcome, held, native=settings.intercept != "monitoring")
    return outcome


@contextlib.contextmanager
def folder_of_run() -> Iterator[str]:
    """A folder where the trace of a run fits, for as long as the block lasts.

    Raises RunError: it cannot be made.
    """
    try:
        os.makedirs(DEFAULT_PARENT, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="turns-", dir=DEFAULT_PARENT)
    except OSError as error:
        where = os.path.abspath(DEFAULT_PARENT)
        raise RunError(f"cannot write into {where}: {error.strerror}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _streams_kept() -> Iterator[None]:
    """record() lets go of stdin and stdout, which the next run needs."""
    copies: dict[int, int] = {}
    for number in (0, 1):
        with contextlib.suppress(OSError):  # it is closed
            copies[number] = os.dup(number)
    try:
        yield
    finally:
        for number, copy in copies.items():
            os.dup2(copy, number)
            os.close(copy)


def _too_few(blocks: list[Block], was_cut: bool) -> RunError:
    if not blocks and not was_cut:
        return NoIterations()
    return RunError(
        f"the program ended before it had {inflation.FEWEST_PAIRS} pairs of iterations: "
        "let it run longer, with a longer --limit"
    )
