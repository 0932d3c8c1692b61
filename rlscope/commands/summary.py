"""`rlscope summary DIR`: prints where the time of a run went."""

from __future__ import annotations

import argparse

from rlscope.terminal.shown_opening import load_shown

_DESCRIPTION = """\
Prints the breakdown of a recorded run: time per operation, layer and GPU state, processes,
iterations and losses. The same as rls-prof prints at the end of a run."""

_EXAMPLES = """\
examples:
  rlscope summary runs/ppo
  rlscope summary runs/ppo | less -S
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("directory", metavar="DIR", help="trace directory")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Prints the summary."""
    from rlscope.report import catalogue
    from rlscope.report.renderers.terminal import render_summary

    with load_shown(options.directory) as trace:
        print(render_summary(trace).rstrip("\n"))
        catalogue.keep_headline(trace)
    return 0
