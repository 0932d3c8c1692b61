"""One run of a program under the profiler, from the trace directory to the program's end."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

from rlscope import cuts, recorder
from rlscope.errors import RecordingError
from rlscope.record import child
from rlscope.record.config import Config, unknown_variables
from rlscope.record.default_directory import default_directory
from rlscope.record.environment import program_variables
from rlscope.record.interpreters import InterpreterWatch
from rlscope.record.iteration_keeper import KeptIterations
from rlscope.record.machine import MachineSampler
from rlscope.record.missing_programs import AbsenceWatch
from rlscope.record.processes import Image, ProcessLog, survivors
from rlscope.record.profile import foreign_injection
from rlscope.record.rollup import RollUp
from rlscope.record.schedule import Schedule
from rlscope.record.settings import Settings
from rlscope.record.sources import SourceKeeper
from rlscope.record.unrecorded import UnrecordedWatch
from rlscope.recorder import runtime
from rlscope.rundir.kept_iterations import refuse_foreign
from rlscope.rundir.new_run import RunDirectory, prepare_directory
from rlscope.rundir.proc import process_start_time
from rlscope.rundir.run_json import write_run_json

# Interpreters are looked at four times a second: capture/interpreters.py says why.
_LOOK_SECONDS = 0.25
# A look at all processes of the machine takes some ms of CPU time.
_ABSENCE_SECONDS = 1.0
_CUT_SECONDS = 1.0
_EXIT_SECONDS = 0.1
# Children of the program may outlive it; those that end within this are awaited.
_OUTLIVE_SECONDS = 2.0
_OUTLIVE_POLL_SECONDS = 0.02

Say = Callable[[str], None]


@dataclass(frozen=True)
class Companion:
    """What else happens in the wrapper while the program runs."""

    variables: Mapping[str, str]
    """Added to the program's environment."""
    seconds: float
    look: Callable[[runtime.Drainer], None]
    """Called every `seconds`; end_program() of the drainer ends the program at an iteration."""


@dataclass
class Outcome:
    """The files of a run, and the end of its program."""

    directory: str
    """Where the trace is by now, which may have been moved."""
    ending: child.Ending
    start_ns: int = 0
    """CLOCK_MONOTONIC, just before the program started."""
    removed: bool = False
    """The directory is gone, or another one has its path."""
    statistics: dict[str, int] = field(default_factory=dict)
    """Counters of the drainer: see _runtime.Drainer.stats."""
    running: list[Image] = field(default_factory=list)
    """Processes of the run that still run."""
    warnings: list[str] = field(default_factory=list)
    """Interpreters that had no Python layer, each with its remedy; programs that are absent."""


def record(settings: Settings, say: Say, companion: Companion | None = None) -> Outcome:
    """Runs the program to its end and records it.

    Before the program starts every failure is raised; once it runs, a failure of ours is one line
    for `say` and the program goes on.

    Raises:
        CommandNotFound: the program cannot be started.
        RlscopeError: recording cannot begin.
    """
    if settings.keep_iterations and not settings.rollup:
        raise RecordingError(
            "--keep-iterations needs --rollup MINUTES: without it the records of all iterations "
            "are kept"
        )
    path = child.resolve(settings.command[0], os.environ.get("PATH", os.defpath))
    child.check_interpreter(path, settings.command[0])
    if recorder.REASON:
        raise RecordingError(f"cannot record here: {recorder.REASON}")
    for message in unknown_variables():
        say(message)
    limits = Config.from_environ()
    how_cuda = settings.cuda or limits.cuda
    if message := foreign_injection(os.environ) if how_cuda == "cupti" else "":
        say(message)
    child.hold_standard_descriptors()
    output = settings.output or default_directory(settings.command)
    environ = program_variables(os.path.realpath(output), settings, limits)
    environ.update(companion.variables if companion is not None else {})
    directory = prepare_directory(output, force=settings.force, made=not settings.output)
    mask = child.block_signals()
    try:
        refuse_foreign(directory.path, settings.keep_iterations)
        for name in directory.beside[:1]:
            say(f"{directory.path} has other files, such as {name}; the run goes beside them")
        directory.follow()
        _describe_run(directory.path, settings)
        drainer = runtime.Drainer(directory.path)
        program = _start(drainer, path, settings, limits, environ, mask)
        _note_in_outer_run(drainer)
    except BaseException:
        child.unblock_signals(mask)
        directory.abandon()
        raise
    child.let_go_of_streams()
    recording = _Recording(directory, settings, limits, say, drainer, companion)
    ending = recording.follow(program, path)
    child.unblock_signals(mask)
    return recording.finish(ending)


def _note_in_outer_run(drainer: runtime.Drainer) -> None:
    """Where rls-prof itself is recorded by another one, that one can say where the trace is."""
    if runtime.state() != "off":
        with contextlib.suppress(OSError):
            drainer.note_in(os.environ["RLSCOPE_DIR"])


def _describe_run(directory: str, settings: Settings) -> None:
    options = asdict(settings)
    for described_elsewhere in ("command", "name"):
        del options[described_elsewhere]
    write_run_json(directory, command=settings.command, name=settings.name, options=options)


def _start(
    drainer: runtime.Drainer,
    path: str,
    settings: Settings,
    limits: Config,
    environ: Mapping[str, str],
    mask: child.SignalMask,
) -> child.Child:
    """Starts the drainer, then the program; the drainer ends again if the program cannot start."""
    try:
        drainer.start(
            recording=settings.delay_seconds == 0 and settings.delay_iterations == 0,
            delay_iterations=settings.delay_iterations,
            iterations=settings.iterations,
            exit_after=settings.exit_after_iterations,
            min_free_bytes=limits.min_free,
            max_bytes=settings.max_size,
            stacks=settings.stacks,
        )
    except OSError as error:
        raise RecordingError(f"cannot record: {error.strerror or error}") from error
    try:
        return child.Child(path, settings.command, environ, mask)
    except BaseException:
        drainer.stop()
        raise


class _Recording:
    """What runs in the wrapper beside the program."""

    def __init__(
        self,
        directory: RunDirectory,
        settings: Settings,
        limits: Config,
        say: Say,
        drainer: runtime.Drainer,
        companion: Companion | None,
    ) -> None:
        self._run = directory
        self._directory = directory.path
        self._settings = settings
        self._min_free = limits.min_free
        self._say = say
        self._drainer = drainer
        self._companion = companion
        self._start_ns = time.monotonic_ns()
        # Older than the program by a little; in ticks of 10 ms, as the kernel dates processes.
        self._begun = process_start_time(os.getpid()) or 0
        self._said_cut = False
        self._recorded_from: float | None = None
        """When the first records were drained, or recording was cut short."""
        self._watch: InterpreterWatch | None = None
        self._absences: AbsenceWatch | None = None
        self._unrecorded: UnrecordedWatch | None = None
        self._sources: SourceKeeper | None = None
        self._sampler: MachineSampler | None = None
        self._rollup: RollUp | None = None

    def follow(self, program: child.Child, path: str) -> child.Ending:
        """Serves the program until it ends."""
        schedule = Schedule(lambda error: self._say(f"stopped watching the program: {error}"))
        with self._stated("cannot watch the program"):
            log = ProcessLog(self._run.place)
            command = self._settings.command
            self._watch = InterpreterWatch(log, command, path, program.pid, self._say)
            schedule.every(_LOOK_SECONDS, self._look_for_interpreters)
            root = Image(program.pid, os.getpid(), self._begun, 0, command[0], forked=False)
            self._absences = AbsenceWatch(log, self._directory, command, root, self._say)
            schedule.every(_ABSENCE_SECONDS, self._look_for_absences)
            place = self._run.place
            self._unrecorded = UnrecordedWatch(place, self._directory, log, root, self._say)
            schedule.every(_LOOK_SECONDS, self._look_for_unrecorded)
            if self._settings.source_text:
                take = self._drainer.take_source_files
                self._sources = SourceKeeper(place, self._settings.source, take)
                schedule.every(_LOOK_SECONDS, self._look_for_sources)
        schedule.every(_CUT_SECONDS, self._look_for_cut)
        if self._companion is not None:
            look = self._companion.look
            schedule.every(self._companion.seconds, lambda: look(self._drainer))
        with self._stated("cannot keep the window"):
            self._plan_window(schedule)
        with self._stated("cannot roll up"):
            if self._settings.rollup > 0:
                self._rollup = self._make_rollup()
                self._rollup.start()
        with self._stated("cannot sample the machine"):
            if self._settings.sample_seconds > 0:
                self._sampler = MachineSampler(self._run.place, self._settings.sample_seconds)
                self._sampler.start()
        return program.wait(schedule)

    def finish(self, ending: child.Ending) -> Outcome:
        """Waits for what outlives the program, drains the rest, prints the problems."""
        outcome = Outcome(self._directory, ending, self._start_ns)
        removed = not self._run.found()
        with self._stated("cannot name the interpreters without rlscope"):
            if self._watch is not None and not removed:
                outcome.warnings = self._watch.finish()
        with self._stated("cannot name the programs that are not in the trace"):
            if self._absences is not None and not removed:
                outcome.warnings += self._absences.finish()
        with self._stated("cannot keep the processes that are not recorded"):
            if self._unrecorded is not None and not removed:
                outcome.warnings += self._unrecorded.finish(self._watch)
        with self._stated("waiting for its children was cut short"):
            outcome.running = self._wait_for_children()
        with self._stated("rolling up was cut short"):
            if self._rollup is not None:
                self._rollup.stop()
        with self._stated("the rest of the trace stays in its rings"):
            self._drainer.stop()
            outcome.statistics = self._drainer.stats()
        with self._stated("cannot keep the program's files"):
            self._look_for_sources()
        with self._stated("cannot keep iterations"):
            if self._rollup is not None and not removed:
                self._rollup.finish()
        with self._stated("cannot release the directory"):
            self._run.release()
            outcome.directory = self._run.found() or self._directory
            outcome.removed = not self._run.found()
        with self._stated("the machine samples are incomplete"):
            if self._sampler is not None:
                self._sampler.stop()
                if self._sampler.error is not None and not removed:
                    raise self._sampler.error
        return outcome

    def _make_rollup(self) -> RollUp:
        keep_seconds, most = 60 * self._settings.rollup, self._settings.max_size
        kept = KeptIterations(
            self._run.place,
            self._settings.keep_iterations,
            max_size=most,
            min_free=self._min_free,
            say=self._say,
        )
        return RollUp(self._run.place, self._drainer, keep_seconds, most, self._say, kept)

    def _look_for_interpreters(self) -> None:
        """Without the log, which goes with the directory, each would seem to lack rlscope."""
        if self._watch is not None and self._run.found():
            self._watch.look()

    def _look_for_absences(self) -> None:
        if self._absences is not None and self._run.found():
            self._absences.look()

    def _look_for_unrecorded(self) -> None:
        if self._unrecorded is not None and self._run.found():
            self._unrecorded.look()

    def _look_for_sources(self) -> None:
        if self._sources is not None and self._run.found():
            self._sources.look()

    def _look_for_cut(self) -> None:
        """Says at once that recording was cut short: hours may be left to begin again."""
        why = self._drainer.stats()["cut"]
        if why and not self._said_cut:
            self._said_cut = True
            self._say(f"recording was cut short: {cuts.reason(why)}; the program goes on")

    def _plan_window(self, schedule: Schedule) -> None:
        delay, length = self._settings.delay_seconds, self._settings.seconds
        if delay > 0:
            schedule.after(delay, lambda: self._drainer.set_recording(True))
        if length > 0:
            schedule.after(delay + length, lambda: self._drainer.set_recording(False))
        if self._settings.exit_after_seconds > 0:
            schedule.every(_EXIT_SECONDS, self._look_for_exit)

    def _look_for_exit(self) -> None:
        """Recording begins at an iteration (--delay-iterations), which only the program knows.
        Where it was cut short before, nothing better will come of waiting."""
        now = time.monotonic()
        statistics = self._drainer.stats()
        if self._recorded_from is None and (statistics["events"] or statistics["cut"]):
            self._recorded_from = now
        begun = self._recorded_from
        if begun is not None and now - begun >= self._settings.exit_after_seconds:
            self._drainer.end_program()

    def _wait_for_children(self) -> list[Image]:
        deadline = time.monotonic() + _OUTLIVE_SECONDS
        log = ProcessLog(self._run.place)
        while True:
            running = survivors(self._directory, log, self._begun)
            if not running or time.monotonic() > deadline:
                return running
            time.sleep(_OUTLIVE_POLL_SECONDS)

    @contextlib.contextmanager
    def _stated(self, what: str) -> Iterator[None]:
        """Turns a failure of ours into one line: the program does not see it."""
        try:
            yield
        except Exception as error:
            self._say(f"{what}: {error}")
        except KeyboardInterrupt:
            self._say(f"{what}: interrupted")
