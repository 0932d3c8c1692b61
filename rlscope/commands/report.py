"""`rlscope report DIR`: makes one self-contained HTML page of a run."""

from __future__ import annotations

import argparse
import errno
import os
from pathlib import Path

from rlscope import regular_files
from rlscope.errors import RlscopeError

_DESCRIPTION = """\
Makes one HTML page that says where the time of a recorded run went. The page needs no network and
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
    print(write_report(options.directory, options.output, options.format))
    return 0


def write_report(
    directory: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    form: str = "html",
) -> Path:
    """Renders the run in `directory` and returns the path of the file, DIR/report.html by default.

    The file appears whole or not at all: it is written under another name and renamed.

    Raises:
        TraceError: not a trace directory, or nothing in it can be read.
        RlscopeError: the file cannot be written.
    """
    from rlscope import registry
    from rlscope.load import load

    render = registry.load(registry.RENDERERS, form)
    with load(directory) as trace:
        text = render(trace)
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
        raise RlscopeError(f"Cannot write {path}: {error.strerror}") from error
