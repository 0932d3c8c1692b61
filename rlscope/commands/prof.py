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
from rlscope.commands.options import layers, values
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
    what = parser.add_argument_group("what to record")
    _prepare_what(what, rare)
    _prepare_cuda(what, rare)
    _prepare_when(parser.add_argument_group("when to record"))
    _prepare_how_long(parser.add_argument_group("how long to run, and how much to keep"), rare)
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


def _prepare_what(group: argparse._ArgumentGroup, rare: RareOptions) -> None:
    group.add_argument(
        "--auto",
        action=argparse.BooleanOptionalAction,
        help="find inference, simulation and backprop without annotations, until the program opens "
        "an operation of its own (default: --auto)",
    )
    layers.prepare(group, rare)
    group.add_argument(
        "--sample-seconds",
        type=values.period,
        metavar="S",
        default=1.0,
        help="read CPU, memory and GPU of the machine every S seconds, at least "
        f"{values.SHORTEST_PERIOD}; 0: never (default: 1)",
    )
    group.add_argument(
        "--source",
        type=values.source,
        metavar="PACKAGE",
        action="append",
        default=[],
        help="files of PACKAGE are the program's own code: a folder, or the name of an installed "
        "module such as stable_baselines3. The report names lines of your own code. Repeat for "
        "several",
    )
    group.add_argument(
        "--lines",
        choices=("backward",),
        default="",
        help="with backward, lines of a PyTorch forward also get the time of their part of the "
        "backward. rlscope watches one backward in 37, and more of the first eight. It slows down "
        "those that it watches",
    )
    rare.add(
        group,
        "--no-stacks",
        dest="stacks",
        action="store_false",
        help="do not read which lines of Python the program is in, nor which ones make CUDA calls. "
        "rls-prof reads the former from outside, some 100 times a second",
    )
    rare.add(
        group,
        "--no-source-text",
        dest="source_text",
        action="store_false",
        help="keep no copy of the program's own files in the trace. The report then names lines "
        "without their text",
    )
    rare.add(
        group,
        "--no-probes",
        dest="probes",
        action="store_false",
        help="do not measure what recording costs while the program runs. Measuring takes at most "
        "0.1 %% of the program's CPU time",
    )


def _prepare_when(group: argparse._ArgumentGroup) -> None:
    options = [
        ("--delay-iterations", values.iterations, "N", "start recording after N iterations"),
        (
            "--iterations",
            values.iterations,
            "N",
            "record N iterations (default: 0, all that follow)",
        ),
        ("--delay-seconds", values.seconds, "S", "start recording S seconds after the start"),
        ("--seconds", values.seconds, "S", "record for S seconds (default: 0, to the end)"),
    ]
    for name, kind, metavar, meaning in options:
        group.add_argument(name, type=kind, metavar=metavar, default=kind("0"), help=meaning)


def _prepare_how_long(group: argparse._ArgumentGroup, rare: RareOptions) -> None:
    options = [
        (
            "--exit-after-iterations",
            values.iterations,
            "N",
            "end the program after N iterations (default: 0, never). SystemExit is raised in the "
            "thread that counts them and in the main thread",
        ),
        (
            "--exit-after-seconds",
            values.seconds,
            "S",
            "end the program in the same way, at the first iteration after S recorded seconds "
            "(default: 0, never)",
        ),
    ]
    for name, kind, metavar, meaning in options:
        group.add_argument(name, type=kind, metavar=metavar, default=kind("0"), help=meaning)
    group.add_argument(
        "--rollup",
        type=values.minutes,
        metavar="MINUTES",
        default=0.0,
        help="keep single records of the last MINUTES only, and the sums of the whole run "
        "(default: 0, keep all). Processes that use CUDA keep all records",
    )
    rare.add(
        group,
        "--keep-iterations",
        type=values.iteration_ranges,
        metavar="A-B",
        default=(),
        help="with --rollup: keep all single records of iterations A to B in a trace of their own, "
        "DIR/iterations-A-B. Give several as 100-110,5000",
    )
    group.add_argument(
        "--max-size",
        type=values.size,
        metavar="SIZE",
        default=0,
        help="stop recording before the trace takes more than SIZE bytes, such as 500M or 20G "
        "(default: 0, no limit). K, M and G are powers of 1024. With --rollup, single records are "
        "removed before that",
    )


def _prepare_cuda(group: argparse._ArgumentGroup, rare: RareOptions) -> None:
    group.add_argument(
        "--cuda",
        choices=("cupti", "interpose", "off"),
        default="",
        help="how to record programs that use CUDA. By default (cupti), rlscope records CUDA calls "
        "and GPU work. With interpose it needs no CUPTI, and records only calls of the CUDA "
        "runtime library. With off it records none",
    )
    group.add_argument(
        "--cuda-api",
        choices=("chosen", "all"),
        default="",
        help="which CUDA calls to record: those that launch, copy, allocate or wait (chosen, the "
        "default), or all",
    )
    group.add_argument(
        "--gpu-share",
        type=values.gpu_share,
        metavar="SHARE",
        default="",
        help="how much GPU work to record: auto (the default), 100%%, or a part of the iterations "
        "such as 10%%. Recording it slows a program down that launches many small kernels. With "
        "a part, rlscope records it in windows of whole iterations, chosen at random. GPU times "
        "are then those of the windows. With auto, rlscope records all where that costs little, "
        "and else windows that should cost at most 3 %% of the loop. Windows need CUDA 12.6. If "
        "you record a part of the run only (--iterations, --seconds, ...), the default is 100%%",
    )
    _prepare_rare_cuda(group, rare)


def _prepare_rare_cuda(group: argparse._ArgumentGroup, rare: RareOptions) -> None:
    rare.add(
        group,
        "--gpu-calls",
        choices=("always", "windows"),
        default="",
        help="with --gpu-share: record CUDA calls always (the default), which costs some 3 to 5 %% "
        "in a program that launches much, or only where GPU work is recorded",
    )
    rare.add(
        group,
        "--cuda-parts",
        choices=("all", "calls", "work"),
        default="",
        help="record only calls (CUPTI's callbacks) or only work (its activity records), to "
        "measure what each part costs (default: all)",
    )
    rare.add(
        group,
        "--cuda-graph-trace",
        choices=("graph", "node"),
        default="",
        help="what a launch of a CUDA graph is. With graph, the default, it is one piece of GPU "
        "work. With node, each of its kernels is one, which costs more",
    )
    rare.add(
        group,
        "--cupti",
        choices=("hold", "yield"),
        default="",
        help="what to do when torch.profiler in the program wants CUPTI. With hold, the default, "
        "torch.profiler sees no GPU. With yield it gets CUPTI while it profiles, and the trace has "
        "a gap",
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
