"""`rlscope advise DIR`: says what to mend first in a recorded program, and what that is worth."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rlscope.terminal.shown_opening import load_shown

if TYPE_CHECKING:
    from rlscope.opening import Trace

_FORMATS = ("text", "markdown", "json")
_DESCRIPTION = """\
Says what to mend first in a recorded program: where it is in the code, and how much of the training
loop can be won back. Each finding has its evidence, and says when the fix changes nothing."""

_EXAMPLES = """\
examples:
  rlscope advise runs/ppo
  rlscope advise runs/ppo --format markdown > advice.md
      to paste into an issue
  rlscope advise runs/ppo --measure
      runs small experiments on this machine for prices that are assumed otherwise
  rlscope advise runs/ppo --format json -o advice.json
      for programs: docs/reference/advice.md describes it
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("directory", metavar="DIR", help="trace directory")
    parser.add_argument(
        "--format", choices=_FORMATS, default="text", help="print text, markdown or json (text)"
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="measure on this machine what rules assume of prices; runs nothing of the trace",
    )
    parser.add_argument(
        "--python",
        metavar="PATH",
        default=sys.executable,
        help="interpreter for --measure, with the program's libraries (the one of rlscope)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write to this file (default: stdout)"
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Prints the findings."""
    from rlscope.report import advice_renderers, report_file

    with load_shown(options.directory) as trace:
        if options.measure:
            _measure(trace, options.python)
        text = advice_renderers.FORMATS[options.format](trace)
    if options.output is None:
        print(text, end="")
    else:
        report_file.write_text(Path(options.output), text)
    return 0


def _measure(trace: Trace, python: str) -> None:
    """Runs the experiments, and says on the terminal which one runs."""
    from rlscope.analysis import advice
    from rlscope.analysis.finding import Experiment, Measured
    from rlscope.experiments import running
    from rlscope.report import catalogue
    from rlscope.terminal import status_line

    with status_line.progress() as line:

        def run_shown(experiment: Experiment) -> Measured:
            line.step(f"measuring {experiment.name.replace('_', ' ')}")
            return running.measure(experiment, python)

        advice.measured(trace, run_shown)
    catalogue.keep_headline(trace)
