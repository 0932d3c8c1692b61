"""`rls-prof [options] [--] COMMAND...` (also `rlscope prof`): runs a program under the profiler."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from rlscope.commands import keep_pandas_out
from rlscope.commands.options import recording
from rlscope.commands.options.rare import RareOptions
from rlscope.errors import RlscopeError
from rlscope.record import child
from rlscope.record.environment import default_gpu_share
from rlscope.record.program import Outcome, record
from rlscope.record.settings import Settings
from rlscope.rundir import new_run
from rlscope.terminal import stderr
from rlscope.terminal.shown_opening import load_shown
from rlscope.terminal.suggesting import SuggestingParser
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.report.contents import Contents

_DESCRIPTION = "Runs a program under the profiler and shows where its time went."
_EXAMPLES = """\
examples:
  rls-prof python train.py
      records the whole run, prints where the time went, writes a report
  rls-prof -o runs/ppo --name baseline python train.py --seed 1
      writes the trace to runs/ppo; --seed 1 is an option of train.py
  rls-prof --delay-iterations 10 --iterations 5 python train.py
      records iterations 10 to 14; the program goes on to its end
  rls-prof --delay-seconds 60 --seconds 30 python train.py
      records half a minute, one minute after the start
  rls-prof --exit-after-iterations 20 python train.py
      ends the program cleanly after 20 iterations
  rls-prof --rollup 5 --max-size 20G python train.py
      for runs of days: keeps sums of the whole run, and details of the last five minutes
  rls-prof -- sh -c 'python train.py | tee log'
      shell syntax needs a shell; rls-prof records its children too
  rls-prof --simulator mysim python train.py
      shows your own extension module, mysim, as a simulator
  rls-prof --no-auto python train.py
      uses only the operations that the program annotates
  rls-prof --no-report python train.py; rlscope report rlscope_out/train-<time>
      records now and analyses later

The program begins an iteration when it calls rls.iteration(). If it never does, rlscope finds
iterations by itself. The program keeps its exit code, its signals, and its stdin, stdout and
stderr. rls-prof prints on stderr only.
"""
_SHELL_SYNTAX = re.compile(r"[\s|&;<>$*?`]")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point `rls-prof`: returns the program's exit code, or ends as the program ended."""
    if argv is None:
        keep_pandas_out()
    parser = SuggestingParser(prog="rls-prof", allow_abbrev=False)
    prepare(parser)
    return run(parser, parser.parse_args(argv))


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from rlscope._version import __version__

    parser.usage = "%(prog)s [options] [--] COMMAND..."
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    rare = RareOptions(parser)
    parser.add_argument("--version", action="version", version=f"rlscope {__version__}")
    _prepare_where(parser.add_argument_group("where the trace goes, and what to print"))
    recording.prepare(parser, rare)
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="COMMAND...",
        help="the program to run, with its arguments",
    )


def _prepare_where(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default="",
        help="write the trace to this directory (default: rlscope_out/<program>-<time>)",
    )
    group.add_argument(
        "--force",
        action="store_true",
        help="replace the run in DIR. rls-prof refuses while a process of that run lives",
    )
    group.add_argument("--name", default="", help="give the run this name")
    group.add_argument(
        "--no-report",
        action="store_true",
        help="only record. `rlscope summary DIR` and `rlscope report DIR` analyse later",
    )
    group.add_argument("--quiet", action="store_true", help="print problems only")


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
        say(f"{error}{_meant(settings.command)}")
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
        parser.error("give the command to run, for example: rls-prof python train.py")
    by_time = options.delay_seconds or options.seconds
    if by_time and (options.delay_iterations or options.iterations):
        parser.error("give the window in iterations or in seconds, not in both")
    is_part = by_time or options.delay_iterations or options.iterations or options.keep_iterations
    if not options.gpu_share:
        options.gpu_share = default_gpu_share(os.environ, is_part=bool(is_part))
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
        if held is not None and closing.ran_no_python(outcome, held):
            _close_without_python(outcome, held, options)
            return
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


def _close_without_python(outcome: Outcome, held: Contents, options: argparse.Namespace) -> None:
    """Says so; a folder that nobody asked for is removed."""
    from rlscope.report import closing

    if not options.quiet:
        for line in closing.trace_lines(outcome, held) if options.output else ():
            say(line)
        say(f"no Python ran in {shlex.join(options.command)}: there is nothing to show")
    if not options.output:
        new_run.discard(outcome.directory)
    for line in outcome.warnings:
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
        later = f"rlscope summary {outcome.directory} does it later"
        with _stated("cannot analyse the trace", later):
            _report(outcome.directory, held.events, options.quiet)


def _report(directory: str, events: int, quiet: bool) -> None:
    """Prints the breakdown and makes the report."""
    from rlscope.report import report_file
    from rlscope.report.renderers.terminal import render_summary
    from rlscope.terminal.status_line import announces, progress

    if quiet:
        report_file.write(directory)
        return
    if announces(events):
        say(f"analysing {events:,} events and writing the report")
    with progress() as line:
        line.step(f"analysing {events:,} events")
        with load_shown(directory, step=line.step) as trace:
            text = render_summary(trace, width=_width(), unicode=_speaks_unicode())
        line.clear()
        stderr.write(text.rstrip("\n") + "\n")
        with _stated("no report", f"rlscope report {directory} writes it later"):
            path = report_file.write(directory, step=line.step)
            line.clear()
            say(f"report {report_file.link(path)}")


def _width() -> int:
    """Columns of stderr's terminal, 100 where it is none."""
    try:
        return os.get_terminal_size(2).columns
    except OSError:
        return 100


def _speaks_unicode() -> bool:
    return sys.stderr is not None and sys.stderr.encoding.lower().startswith("utf")


@contextlib.contextmanager
def _stated(what: str, later: str = "") -> Iterator[None]:
    """A failure of ours after the program ran is one line; its exit code stays.

    `later`: how to do it after a Ctrl-C.
    """
    try:
        yield
    except Exception as error:
        say(f"{what}: {_one_line(error)}")
    except KeyboardInterrupt:
        say(f"{what}: interrupted{'; ' if later else ''}{later}")


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, RlscopeError) else f"{type(error).__name__}: {text}"


def _meant(command: list[str]) -> str:
    """What to type for a command that is none: a script, or shell syntax."""
    if command[0].endswith(".py") and os.path.isfile(command[0]):
        return f"; a script needs its interpreter: rls-prof python {shlex.join(command)}"
    if len(command) == 1 and _SHELL_SYNTAX.search(command[0]):
        return f"; for shell syntax: rls-prof sh -c {shlex.quote(command[0])}"
    return ""


def _with_remedy(message: str) -> str:
    if message.endswith((os.strerror(errno.EACCES), os.strerror(errno.EROFS))):
        return f"{message}. Give a folder that you can write to: rls-prof -o DIR ..."
    return message.replace("without force", "without --force")
