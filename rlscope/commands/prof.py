"""`rls-prof [options] [--] COMMAND...` (also `rlscope prof`): runs a program under the profiler."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from rlscope.commands.options import layers, values
from rlscope.errors import RlscopeError
from rlscope.record import child
from rlscope.record.program import Outcome, Settings, record
from rlscope.terminal import stderr
from rlscope.terminal.shown_opening import load_shown
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.report.contents import Contents

_DESCRIPTION = "Runs a program under the profiler and reports where its time went."
_EXAMPLES = """\
examples:
  rls-prof python train.py
      trace, breakdown and report of a whole run, in rlscope_out/train-<time>
  rls-prof -o runs/ppo --name baseline python train.py --seed 1
      the trace goes to runs/ppo; everything after the command belongs to the command
  rls-prof --delay-iterations 10 --iterations 5 python train.py
      records the iterations 10 to 14 of a long run, which goes on to its end
  rls-prof --delay-seconds 60 --seconds 30 python train.py
      records half a minute, a minute after the start
  rls-prof --rollup 5 --max-size 20G python train.py
      days: sums of the whole run, single records of the last five minutes
  rls-prof --rollup 5 --keep-iterations 100-110,5000 python train.py
      and all records of these iterations, each range in a trace of its own
  rls-prof --exit-after-iterations 20 python train.py
      ends the program cleanly after 20 iterations
  rls-prof -- sh -c 'python train.py | tee log'
      shell syntax needs a shell; its children are recorded too
  rls-prof --simulator mysim python train.py
      mysim, an extension module of your own, is a simulator
  rls-prof --no-auto python train.py
      only the operations that the program annotates
  rls-prof --no-report python train.py; rlscope report rlscope_out/train-<time>
      records now, analyses later

rls.iteration() in the program begins an iteration; without it rlscope finds iterations by itself.
The program keeps its exit code, its signals and its stdin, stdout and stderr; rls-prof prints on
stderr only.
"""
_SHELL_SYNTAX = re.compile(r"[\s|&;<>$*?`]")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point `rls-prof`: returns the program's exit code, or ends as the program ended."""
    parser = argparse.ArgumentParser(
        prog="rls-prof", usage="%(prog)s [options] [--] COMMAND...", allow_abbrev=False
    )
    prepare(parser)
    return run(parser, parser.parse_args(argv))


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from rlscope._version import __version__

    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default="",
        help="trace directory (default: rlscope_out/<program>-<time>)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace the run that DIR holds; refused while one of its processes lives",
    )
    parser.add_argument("--name", default="", help="name of the run")
    parser.add_argument(
        "--no-report", action="store_true", help="only record; `rlscope report DIR` analyses later"
    )
    parser.add_argument(
        "--auto",
        action=argparse.BooleanOptionalAction,
        help="find inference, simulation and backprop without annotation, until the program opens "
        "an operation of its own (default: --auto)",
    )
    parser.add_argument(
        "--no-probes",
        dest="probes",
        action="store_false",
        help="do not measure what recording costs while the program runs; that takes at most "
        "0.1 %% of its CPU time",
    )
    parser.add_argument("--quiet", action="store_true", help="print problems only")
    parser.add_argument(
        "--sample-seconds",
        type=values.period,
        metavar="S",
        default=1.0,
        help="period of the samples of CPU, memory and GPU, at least "
        f"{values.SHORTEST_PERIOD}; 0: none (default: 1)",
    )
    parser.add_argument("--version", action="version", version=f"rlscope {__version__}")
    _prepare_windows(parser)
    layers.prepare(parser)
    _prepare_cuda(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND...")


def _prepare_windows(parser: argparse.ArgumentParser) -> None:
    windows = parser.add_argument_group("what to record", "of a program that runs to its end")
    options = [
        ("--delay-iterations", values.iterations, "N", "record after this many iterations"),
        (
            "--iterations",
            values.iterations,
            "N",
            "record this many iterations; 0, the default: all that follow",
        ),
        ("--delay-seconds", values.seconds, "S", "record from this time after the start on"),
        (
            "--seconds",
            values.seconds,
            "S",
            "record for this long; 0, the default: to the end",
        ),
        (
            "--exit-after-iterations",
            values.iterations,
            "N",
            "end the program after N iterations: SystemExit in the thread that counts them, and in "
            "the main thread; 0, the default: never",
        ),
        (
            "--exit-after-seconds",
            values.seconds,
            "S",
            "end the program in the same way at the first iteration after it was recorded for S "
            "seconds; 0, the default: never",
        ),
    ]
    for name, kind, metavar, meaning in options:
        windows.add_argument(name, type=kind, metavar=metavar, default=kind("0"), help=meaning)
    windows.add_argument(
        "--rollup",
        type=values.minutes,
        metavar="MINUTES",
        default=0.0,
        help="keep single records for the last MINUTES only, and the sums of the whole run; not of "
        "processes that use CUDA; 0, the default: keep all",
    )
    windows.add_argument(
        "--keep-iterations",
        type=values.iteration_ranges,
        metavar="A-B",
        default=(),
        help="with --rollup: keep all single records of the iterations A to B, in "
        "DIR/iterations-A-B, a trace of its own; several: 100-110,5000",
    )
    windows.add_argument(
        "--max-size",
        type=values.size,
        metavar="SIZE",
        default=0,
        help="stop recording before the trace takes more bytes than this; 500M, 20G (K, M, G: "
        "powers of 1024); with --rollup single records go before that; 0, the default: no limit",
    )


def _prepare_cuda(parser: argparse.ArgumentParser) -> None:
    cuda = parser.add_argument_group("CUDA")
    cuda.add_argument(
        "--cuda",
        choices=("cupti", "interpose", "off"),
        default="",
        help="how CUDA calls and GPU work are recorded, in programs that use CUDA (default: "
        "cupti); interpose, where CUPTI cannot be had: times of calls into the CUDA runtime "
        "library only",
    )
    cuda.add_argument(
        "--cuda-api",
        choices=("chosen", "all"),
        default="",
        help="which CUDA calls: those that launch, copy, allocate or wait (chosen, the default) or "
        "all",
    )
    cuda.add_argument(
        "--cuda-parts",
        choices=("all", "calls", "work"),
        default="",
        help="to measure the cost of each: only CUDA calls (CUPTI's callbacks), or only GPU work "
        "(its activity records); default: all",
    )
    cuda.add_argument(
        "--cuda-graph-trace",
        choices=("graph", "node"),
        default="",
        help="a launch of a CUDA graph is one piece of GPU work, or each of its kernels is, which "
        "costs more (default: graph)",
    )
    cuda.add_argument(
        "--cupti",
        choices=("hold", "yield"),
        default="",
        help="yield: torch.profiler in the program gets CUPTI while it profiles, which is a gap in "
        "the trace; hold, the default: it sees no GPU",
    )


def _stay_out_of_a_run_around() -> None:
    """Under another rls-prof, what this process waits for is not the program's."""
    native = sys.modules.get("rlscope.capture.native")
    if native is not None:
        native.end()


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Runs the command and prints what became of it."""
    settings = _settings(parser, options)
    _stay_out_of_a_run_around()
    try:
        outcome = record(settings, say)
    except child.CommandNotFound as error:
        say(f"{error}{_shell_hint(settings.command)}")
        return error.code
    except RlscopeError as error:
        say(_with_remedy(str(error)))
        return 1
    except KeyboardInterrupt:  # the program has not started
        child.die_by_signal(signal.SIGINT)
    _close(outcome, options)
    return child.exit_code(outcome.ending.status)


def say(line: str) -> None:
    """Prints one line on stderr; drops it if stderr takes nothing."""
    stderr.write(f"rls-prof: {visible(line)}\n")


def _settings(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Settings:
    command = options.command
    if command[:1] == ["--"]:
        command = command[1:]
    if not command:
        parser.error("give the command to run: rls-prof [options] [--] COMMAND...")
    by_time = options.delay_seconds or options.seconds
    if by_time and (options.delay_iterations or options.iterations):
        parser.error("give a window by iterations or by seconds, not by both")
    given = {field.name for field in fields(Settings)} - {"command"}
    return Settings(command=command, **{name: getattr(options, name) for name in given})


def _close(outcome: Outcome, options: argparse.Namespace) -> None:
    """Prints what was recorded and, unless it is unwanted, the breakdown and the report."""
    from rlscope.report import closing  # imports what the program need not wait for

    if not options.quiet:
        for line in closing.ending_lines(outcome):
            say(line)
    with _stated("cannot read the trace"):
        held = closing.read_contents(outcome)
        for line in closing.trace_lines(outcome, held):
            # An incomplete trace is a problem, too.
            if not options.quiet or held is None or held.cuts:
                say(line)
        if not options.quiet:
            for line in closing.kept_lines(outcome):
                say(line)
        if held is not None:
            _analyse(outcome, held, options)
    for line in (*closing.running_lines(outcome), *outcome.warnings):
        say(line)


def _analyse(outcome: Outcome, held: Contents, options: argparse.Namespace) -> None:
    """Prints the cost of recording and the breakdown."""
    from rlscope.costs import calibrations
    from rlscope.report import closing

    calibrations.place(outcome.directory)
    with _stated("cannot keep how long the disk stalled"):
        closing.keep_stalls(outcome)
    with _stated("cannot measure the cost of recording"):
        price = closing.measure_price(outcome, held, native=options.intercept != "monitoring")
        # The breakdown says a price too, but not why there is none.
        described = price.describe() if price is not None and options.no_report else ""
        line = described or closing.too_short_line(outcome, held)
        if line and not options.quiet:
            say(line)
    if options.no_report and not options.quiet:
        for line in closing.loss_lines(held):  # as the breakdown does
            say(line)
    if not options.no_report:
        with _stated("cannot analyse the trace"):
            _report(outcome.directory, held.events, options.quiet)


def _report(directory: str, events: int, quiet: bool) -> None:
    """Prints the breakdown and makes the report."""
    from rlscope.commands.report import link, write_report
    from rlscope.report.renderers.terminal import render_summary
    from rlscope.terminal.status_line import announces, progress

    if quiet:
        write_report(directory)
        return
    if announces(events):
        say(f"analysing {events:,} events and writing the report")
    with progress() as line:
        line.step(f"analysing {events:,} events")
        with load_shown(directory, step=line.step) as trace:
            text = render_summary(trace, width=_width(), unicode=_speaks_unicode())
        line.clear()
        stderr.write(text.rstrip("\n") + "\n")
        path = write_report(directory, step=line.step)
    say(f"report {link(path)}")


def _width() -> int:
    """Columns of stderr's terminal, 100 where it is none."""
    try:
        return os.get_terminal_size(2).columns
    except OSError:
        return 100


def _speaks_unicode() -> bool:
    return sys.stderr is not None and sys.stderr.encoding.lower().startswith("utf")


@contextlib.contextmanager
def _stated(what: str) -> Iterator[None]:
    """A failure of ours after the program ran is one line; its exit code stays."""
    try:
        yield
    except Exception as error:
        say(f"{what}: {_one_line(error)}")
    except KeyboardInterrupt:
        say(f"{what}: interrupted")


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, RlscopeError) else f"{type(error).__name__}: {text}"


def _shell_hint(command: list[str]) -> str:
    if len(command) == 1 and _SHELL_SYNTAX.search(command[0]):
        return f"; for shell syntax: rls-prof sh -c {shlex.quote(command[0])}"
    return ""


def _with_remedy(message: str) -> str:
    return message.replace("without force", "without --force")
