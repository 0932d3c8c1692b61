"""`rlscope survey -o DIR`: runs many programs and compares where their time goes."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlscope.commands.options import values
from rlscope.errors import RlscopeError
from rlscope.terminal import stderr
from rlscope.terminal.status_line import progress
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.survey.cells import Cell
    from rlscope.survey.conducting import Progress
    from rlscope.survey.results import Plan, Results

_DESCRIPTION = """\
Runs reinforcement learning programs, called cells, several times each, in turns. It shows where
their time goes and how they compare. It also shows which findings of the RL-Scope paper hold on
this machine. It writes DIR/survey.html, survey.md, cells.csv and results.json. The trace of each
run stays in DIR/<cell>/<repetition>.

If you interrupt the survey with Ctrl-C, finished runs are kept. The same command continues. If a
cell fails, the pages show its error, and the next `rlscope survey` of DIR runs it again."""

_EXAMPLES = """\
examples:
  rlscope survey --quick -o survey
      runs every cell once, for 10 s, without calibration
  rlscope survey --experiment framework -n 5 -o survey
      runs one experiment five times, and calibrates each program first
  rlscope survey --device cuda -o survey
      runs the networks on a GPU, and so fills the columns and findings of GPU time
  rlscope survey --cells mine.toml --experiment mine -o survey
      runs programs of your own, one line of TOML each:
      cells = [
        { name = "mine", command = "python train.py", experiment = ["mine"] },
      ]
  rlscope survey --page-from survey/results.json -o pages
      runs nothing, and makes the pages again

`pip install 'rlscope[survey]'` installs every library that rlscope's own cells use.
"""

_WINDOW, _QUICK_WINDOW = 30.0, 10.0
_REPETITIONS, _QUICK_REPETITIONS = 3, 1
_CALIBRATION = 180.0
_MOST_REPETITIONS = 1000
_DEVICE = "cpu"
_BAR = 20


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    _add_choice(parser)
    _add_runs(parser)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """Which cells, and where to."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default="survey",
        help="write the survey to this directory (default: %(default)s)",
    )
    parser.add_argument(
        "--experiment",
        action="append",
        metavar="NAME",
        help="run only this experiment; you can repeat it. There are framework, algorithm, "
        "simulator, scaleup, those that your cells name, and all, the default",
    )
    parser.add_argument(
        "--cell",
        action="append",
        default=[],
        metavar="NAME",
        help="run only this cell of them; you can repeat it",
    )
    parser.add_argument(
        "--cells",
        action="append",
        default=[],
        metavar="FILE",
        help="add your own cells from this TOML file",
    )
    parser.add_argument("--list", action="store_true", help="list the cells, and run nothing")
    parser.add_argument(
        "--page-from",
        metavar="FILE",
        help="make the pages of this results.json again, and run nothing",
    )


def _add_runs(parser: argparse.ArgumentParser) -> None:
    """How each cell is run."""
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"run {_QUICK_REPETITIONS} repetition of {_QUICK_WINDOW:g} s without calibration, and "
        "only a few compiled cells",
    )
    parser.add_argument(
        "-n",
        dest="repetitions",
        type=_repetitions,
        metavar="N",
        help=f"run each cell N times (default: {_REPETITIONS})",
    )
    parser.add_argument(
        "--seconds",
        type=_positive,
        metavar="S",
        help=f"record each run for S seconds, then end it (default: {_WINDOW:g})",
    )
    parser.add_argument(
        "--limit",
        type=_positive,
        metavar="S",
        help="kill a run that has not ended after S seconds (default: 120, plus four times the "
        "recorded time)",
    )
    parser.add_argument(
        "--calibration",
        type=values.seconds,
        metavar="S",
        help="run `rlscope calibrate` on each program for S seconds first. With 0, probes in the "
        f"runs measure what recording costs (default: {_CALIBRATION:g})",
    )
    parser.add_argument(
        "--device",
        default=_DEVICE,
        metavar="NAME",
        help="put the networks on this device, cpu or cuda. It replaces {device} in the command "
        "of a cell (default: %(default)s)",
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Runs the survey and writes its pages; 1 if no cell has a number."""
    from rlscope.survey import results

    directory = Path(options.output)
    if options.page_from:
        return _write(directory, results.read(options.page_from))
    wanted = _chosen(parser, options)
    if options.list:
        print("\n".join(_listed(wanted)))
        return 0
    return _write(directory, _conduct(directory, _plan(options), wanted))


def _chosen(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[Cell]:
    from rlscope.survey import cells

    found = cells.matrix()
    for path in options.cells:
        found = cells.joined(found, cells.read(path))
    try:
        only = cells.named(found, options.cell) if options.cell else found
        wanted = cells.chosen(found, options.experiment or [cells.EVERY])
    except ValueError as error:
        parser.error(str(error))
    return cells.on_device([cell for cell in only if cell in wanted], options.device)


def _listed(wanted: Sequence[Cell]) -> Iterator[str]:
    from rlscope.survey import requirements

    for cell in wanted:
        why = requirements.absence(cell)
        yield visible(f"{cell.name}: {cell.command}{f'  ({why})' if why else ''}")


def _plan(options: argparse.Namespace) -> Plan:
    from rlscope.survey.results import Plan

    quick = options.quick
    window = _given(options.seconds, _QUICK_WINDOW if quick else _WINDOW)
    return Plan(
        repetitions=_given(options.repetitions, _QUICK_REPETITIONS if quick else _REPETITIONS),
        window=window,
        limit=_given(options.limit, 120 + 4 * window),
        calibration=_given(options.calibration, 0.0 if quick else _CALIBRATION),
        quick=quick,
        arguments=tuple(_arguments(options)),
        device=options.device,
    )


def _given(value: Any, default: Any) -> Any:
    return default if value is None else value


def _arguments(options: argparse.Namespace) -> Iterator[str]:
    """Those that decide what is run, except the experiments."""
    for path in options.cells:
        yield from ("--cells", path)
    for name in options.cell:
        yield from ("--cell", name)
    if options.quick:
        yield "--quick"
    if options.device != _DEVICE:
        yield from ("--device", options.device)
    for option, value in (
        ("-n", options.repetitions),
        ("--seconds", options.seconds),
        ("--limit", options.limit),
        ("--calibration", options.calibration),
    ):
        if value is not None:
            yield from (option, f"{value:g}")


def _conduct(directory: Path, plan: Plan, wanted: Sequence[Cell]) -> Results:
    from rlscope.survey.conducting import Conductor
    from rlscope.survey.runs import DiskFull

    with _claimed(directory), _killed_like_interrupted(), progress() as line:

        def say(text: str) -> None:
            line.clear()
            stderr.write(f"rlscope survey: {visible(text)}\n")

        conductor = Conductor(directory, plan, wanted, say)
        conductor.prepare()
        try:
            conductor.run(lambda now: line.step(bar(now)))
        except KeyboardInterrupt:
            say("interrupted; finished runs are kept, and the same command continues")
            raise
        except DiskFull as error:
            raise RlscopeError(
                f"{error}; finished runs are kept, and the same command continues"
            ) from error
        return conductor.results()


@contextmanager
def _claimed(directory: Path) -> Iterator[None]:
    """Two surveys in one directory would take each other's runs for their own.

    Raises RlscopeError: another one is there, or the directory cannot be written.
    """
    from rlscope.rundir import claim

    try:
        directory.mkdir(parents=True, exist_ok=True)
        own = claim.take(str(directory))
        own.settle()
    except OSError as error:
        raise RlscopeError(f"cannot write {directory}: {error.strerror}") from error
    try:
        yield
    finally:
        own.withdraw()


@contextmanager
def _killed_like_interrupted() -> Iterator[None]:
    """A SIGTERM or SIGHUP ends the running cell, too."""

    def end(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def bar(now: Progress) -> str:
    """The line of a survey that is going on."""
    full = _BAR * now.done // now.whole
    minutes, seconds = divmod(round(now.seconds_left), 60)
    left = f"{minutes} min" if minutes >= 2 else f"{60 * minutes + seconds} s"
    return (
        f"[{'#' * full}{'.' * (_BAR - full)}] {now.done} of {now.whole}, about {left} left: "
        f"{visible(now.doing)}"
    )


def _write(directory: Path, found: Results) -> int:
    from rlscope.survey.files import write_all

    path = write_all(directory, found)
    print(path)
    return 0 if any(each.good for each in found.cells) else 1


def _repetitions(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    if not 1 <= number <= _MOST_REPETITIONS:
        raise argparse.ArgumentTypeError(
            f"expected a number from 1 to {_MOST_REPETITIONS}, got {text!r}"
        )
    return number


def _positive(text: str) -> float:
    value = values.seconds(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return value
