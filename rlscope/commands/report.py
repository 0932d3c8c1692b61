"""`rlscope report DIR`: writes one HTML page that shows where the time of a run went."""

from __future__ import annotations

import argparse
import sys

from rlscope.terminal.status_line import progress

_DESCRIPTION = """\
Writes one HTML page that shows where the time of a recorded run went. The page needs no network and
no other file. It does not grow with the length of the run."""

_EXAMPLES = """\
examples:
  rlscope report runs/ppo
      writes runs/ppo/report.html
  rlscope report runs/ppo -o ppo.html
  rlscope report runs/ppo --format json -o ppo.json
      writes the tables that the page is made from, for scripts
"""


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("directory", metavar="DIR", help="trace directory")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write to this file (default: DIR/report.html)"
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
    with progress() as line:
        path = report_file.write(options.directory, options.output, options.format, step=line.step)
    # A path for scripts; on a terminal what it opens at a click.
    print(report_file.link(path) if sys.stdout.isatty() else path)
    return 0
