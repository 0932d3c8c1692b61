"""Files and folders that appear whole or not at all: made under another name, then renamed."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rlscope.errors import RlscopeError
from rlscope.rundir import regular_files

_GZIP_LEVEL = 6


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """A file that has its name when the block ends well; compressed where the name ends in .gz.

    Raises RlscopeError: it is there already and `force` is not given, or cannot be written.
    """
    _check(path, force)
    if os.path.lexists(path) and not path.is_file():  # --force replaces no device
        raise RlscopeError(f"cannot write {path}: it is no regular file")
    unfinished = _unfinished(path)
    try:
        with _failures(path):
            with open(unfinished, "xb") as file:
                if path.suffix == ".gz":
                    # Without a name in it: two exports of a run are the same bytes.
                    with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packed:
                        yield packed  # type: ignore[misc]
                else:
                    yield file
            _check(path, force)
            os.replace(unfinished, path)
    finally:
        with suppress(OSError):  # renamed, or never made
            unfinished.unlink()


@contextmanager
def new_folder(path: Path, *, force: bool, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """A folder that has its name when the block ends well.

    Args:
        is_ours: whether an export writes files of a name. `force` replaces a folder that has
            nothing else.

    Raises:
        RlscopeError: it is there already, or cannot be written.
    """
    _check(path, force)
    if os.path.lexists(path):
        _check_ours(path, is_ours)
    unfinished = _unfinished(path)
    try:
        with _failures(path):
            unfinished.mkdir()
            yield unfinished
            _check(path, force)
            _take_place(unfinished, path, is_ours)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _take_place(unfinished: Path, path: Path, is_ours: Callable[[str], bool]) -> None:
    if not os.path.lexists(path):
        unfinished.rename(path)
        return
    _check_ours(path, is_ours)
    before = _unfinished(path)
    path.rename(before)
    try:
        unfinished.rename(path)
    except OSError:
        before.rename(path)
        raise
    shutil.rmtree(before, ignore_errors=True)


def _check(path: Path, force: bool) -> None:
    if not path.name:
        raise RlscopeError(f"cannot write {str(path)!r}: it names no file")
    if os.path.lexists(path) and not force:
        raise RlscopeError(f"{path} exists already, will not overwrite it without --force")
    if not path.parent.is_dir():
        raise RlscopeError(f"cannot write {path}: no such directory: {path.parent}")


def _check_ours(path: Path, is_ours: Callable[[str], bool]) -> None:
    if path.is_symlink() or not path.is_dir():
        raise RlscopeError(f"cannot write {path}: it is no directory")
    foreign = sorted(name for name in os.listdir(path) if not is_ours(name))
    if foreign:
        raise RlscopeError(f"cannot replace {path}: {foreign[0]} in it is of no export")


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{regular_files.unfinished_name(path.name)}")


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RlscopeError(f"cannot write {path}: {error.strerror or error}") from error
