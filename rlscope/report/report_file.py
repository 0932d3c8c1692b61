"""The file of a report: DIR/report.html, or as it was asked for."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rlscope import registry
from rlscope.errors import RlscopeError
from rlscope.report import catalogue
from rlscope.rundir import regular_files
from rlscope.terminal.shown_opening import load_shown

_DEFAULT_NAMES = {"html": "report.html", "json": "report.json", "terminal": "report.txt"}


def write(
    directory: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    form: str = "html",
    *,
    step: Callable[[str], None] = lambda _: None,
) -> Path:
    """Renders the run in `directory` and returns the path of the file, DIR/report.html by default.

    The file appears whole or not at all: it is written under another name and renamed. A device or
    a pipe as `output` is written to, such as /dev/null or /dev/stdout. `step` is called with a few
    words whenever another part of the work begins.

    Raises:
        TraceError: not a trace directory, or nothing in it can be read.
        RlscopeError: the file cannot be written.
    """
    render = registry.load(registry.RENDERERS, form)
    if output is not None:
        check(Path(output))
    step("reading the trace")
    with load_shown(directory, step=step) as trace:
        step("writing the report")
        text = render(trace, step=step) if form == "html" else render(trace)
        catalogue.keep_headline(trace)
    own = Path(directory) / _DEFAULT_NAMES.get(form, f"report.{form}")
    path = own if output is None else Path(output)
    write_text(path, text, given=output is not None)
    return path


def check(path: Path) -> None:
    """Raises RlscopeError if a file that the user names cannot be written, as far as can be told
    before the trace is read."""
    with _failures(path):
        if _is_device(path):
            return
        _refuse_folder(path)
        with regular_files.folder(path.parent):
            pass
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def write_text(path: Path, text: str, *, given: bool = True) -> None:
    """Writes a file whole or not at all. A device or a pipe that the user names (`given`) is no
    file to replace.

    Raises RlscopeError: it cannot be written.
    """
    # A name may hold half a surrogate pair, which UTF-8 cannot.
    content = text.encode(errors="backslashreplace")
    with _failures(path):
        _refuse_folder(path)
        if given and _is_device(path):
            path.write_bytes(content)
        else:
            regular_files.replace(path.parent, path.name, content)


def _is_device(path: Path) -> bool:
    """Or a pipe: it is there, and no file that could be replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RlscopeError(f"cannot write {path}: {error.strerror}") from error


def link(path: Path) -> str:
    """The file as a browser takes it, which terminals make a link."""
    return path.absolute().as_uri()
