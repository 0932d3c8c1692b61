"""`rlscope report DIR...`: writes an HTML page that shows where the time of runs went."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rlscope.terminal.status_line import progress

_DESCRIPTION = """\
Writes one HTML page that shows where the time of a recorded run went. The page needs no network and
no other file. It does not grow with the length of the run.

Several runs, such as seeds or commits, are laid over each other on one page: their operations,
iterations, timelines and findings."""

_EXAMPLES = """\
examples:
  rlscope report runs/ppo
      writes runs/ppo/report.html
  rlscope report runs/ppo -o ppo.html
  rlscope report runs/ppo --format json -o ppo.json
      writes the tables that the page is made from, for scripts
  rlscope report runs/seed-1 runs/seed-2 runs/seed-3 -o seeds.html
      writes one page of all three; "runs/seed-*" in quotes is the same
"""
_SEVERAL = "runs.html"


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "directories",
        metavar="DIR",
        nargs="+",
        help="trace directory; several: trace directories, folders of them, patterns",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"write to this file (default: DIR/report.html, and {_SEVERAL} for several runs)",
    )
    parser.add_argument(
        "--format",
        default="html",
        metavar="FORMAT",
        help="write html, json, terminal, or a format of another package (default: html)",
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Writes the report and prints its path."""
    from rlscope import registry
    from rlscope.report import report_file

    if options.format not in registry.names(registry.RENDERERS):
        known = ", ".join(registry.names(registry.RENDERERS))
        parser.error(f"no format {options.format!r}; there are: {known}")
    if _is_one_run(options.directories):
        (run,) = options.directories
        with progress() as line:
            path = report_file.write(run, options.output, options.format, step=line.step)
    elif options.format != "html":
        parser.error("several runs are one page: --format html")
    else:
        path = _write_several(options.directories, options.output or _SEVERAL)
    # A path for scripts; on a terminal what it opens at a click.
    print(report_file.link(path) if sys.stdout.isatty() else path)
    return 0


def _is_one_run(named: Sequence[str]) -> bool:
    """A pattern may mean several, where it is no path."""
    from rlscope.compare import sides

    return len(named) == 1 and (os.path.lexists(named[0]) or not sides.is_pattern(named[0]))


def _write_several(named: Sequence[str], output: str) -> Path:
    from rlscope.compare import baselines, overlay, renderers, sides
    from rlscope.report import report_file

    report_file.check(Path(output))
    with progress() as line:
        runs = sides.read(sides.directories(named, baselines.STORE), line.step)
        line.step("writing the report")
        report_file.write_text(Path(output), renderers.overlaid(overlay.of(runs)))
    return Path(output)
