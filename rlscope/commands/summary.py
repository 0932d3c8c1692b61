"""`rlscope summary DIR`: shows where the time of a run went, in the terminal."""

from __future__ import annotations

import argparse

from rlscope.terminal.shown_opening import load_shown

_DESCRIPTION = """\
Shows where the time of a recorded run went: by operation, layer and GPU state. It also shows the
processes, the iterations and what was lost. rls-prof prints the same at the end of a run."""

_EXAMPLES = """\
examples:
  rlscope summary runs/ppo
  rlscope summary runs/ppo --lines 10
  rlscope summary runs/ppo | less -S
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("directory", metavar="DIR", help="trace directory")
    parser.add_argument(
        "--lines",
        metavar="N",
        type=_lines,
        default=3,
        help="show the N hottest lines of the program's own code, with their text (default: 3)",
    )


def _lines(text: str) -> int:
    from rlscope.report import limits

    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1
    if not 0 <= number <= limits.LINES:
        raise argparse.ArgumentTypeError(f"expected 0 to {limits.LINES} lines, got {text!r}")
    return number


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Prints the summary."""
    from rlscope.report import catalogue
    from rlscope.report.renderers.terminal import render_summary

    with load_shown(options.directory) as trace:
        print(render_summary(trace, hottest=options.lines).rstrip("\n"))
        catalogue.keep_headline(trace)
    return 0
