"""`rlscope report DIR`: makes one self-contained HTML page of a run."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

from rlscope.errors import RlscopeError
from rlscope.rundir import regular_files
from rlscope.terminal.shown_opening import load_shown
from rlscope.terminal.status_line import progress

_DESCRIPTION = """\
Makes one HTML page that shows where the time of a recorded run went. The page needs no network and
no other file; its size does not grow with the length of the run."""

_EXAMPLES = """\
examples:
  rlscope report runs/ppo
      writes runs/ppo/report.html
  rlscope report runs/ppo -o ppo.html
  rlscope report runs/ppo --format json -o ppo.json
      the tables behind the page, for scripts
"""

_DEFAULT_NAMES = {"html": "report.html", "json": "report.json", "terminal": "report.txt"}


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("directory", metavar="DIR", help="trace directory")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: DIR/report.html")
    parser.add_argument(
        "--format",
        default="html",
        metavar="FORMAT",
        help="html, json, terminal, or a renderer of another package (default: html)",
    )


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Writes the report and prints its path."""
    from rlscope import registry

    if options.format not in registry.names(registry.RENDERERS):
        known = ", ".join(registry.names(registry.RENDERERS))
        parser.error(f"no format {options.format!r}; there are: {known}")
    with progress() as line:
        path = write_report(options.directory, options.output, options.format, step=line.step)
    # A path for scripts; on a terminal what it opens at a click.
    print(link(path) if sys.stdout.isatty() else path)
    return 0


def link(path: Path) -> str:
    """The file as a browser takes it, which terminals make a link."""
    return path.absolute().as_uri()


def write_report(
    directory: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    form: str = "html",
    *,
    step: Callable[[str], None] = lambda _: None,
) -> Path:
    """Renders the run in `directory` and returns the path of the file, DIR/report.html by default.

    The file appears whole or not at all: it is written under another name and renamed. `step` is
    called with a few words whenever another part of the work begins.

    Raises:
        TraceError: not a trace directory, or nothing in it can be read.
        RlscopeError: the file cannot be written.
    """
    from rlscope import registry
    from rlscope.report import catalogue

    render = registry.load(registry.RENDERERS, form)
    step("reading the trace")
    with load_shown(directory, step=step) as trace:
        step("writing the report")
        text = render(trace, step=step) if form == "html" else render(trace)
        catalogue.keep_headline(trace)
    own = Path(directory) / _DEFAULT_NAMES.get(form, f"report.{form}")
    path = own if output is None else Path(output)
    _write(path, text)
    return path


def _write(path: Path, text: str) -> None:
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        # A name may hold half a surrogate pair, which UTF-8 cannot.
        regular_files.replace(path.parent, path.name, text.encode(errors="backslashreplace"))
    except OSError as error:
        raise RlscopeError(f"cannot write {path}: {error.strerror}") from error
