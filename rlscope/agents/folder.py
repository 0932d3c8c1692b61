"""The folder that a server was started with: a client names paths in it, and no others."""

from __future__ import annotations

import os
from pathlib import Path

from rlscope.agents import quoted
from rlscope.errors import Refused, RlscopeError
from rlscope.rundir import run_search


class Folder:
    """Names are relative to it. Raises RlscopeError: it is no folder, or cannot be read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self.path = Path(path).resolve(strict=True)
            with os.scandir(self.path):
                pass
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RlscopeError(f"cannot read the folder {os.fspath(path)}: {reason}") from error

    def inside(self, name: str) -> Path:
        """The path that a client means, which need not be there. Links that lead out of the folder
        are refused.

        Raises Refused: it is outside of the folder, or no path.
        """
        given = quoted.unmarked(name)
        if "\0" in given or not _is_text(given):
            raise Refused(f"this is no path: {quoted.text(name)}")
        if os.path.isabs(given) or ".." in Path(given).parts:
            raise Refused(
                "paths are relative to the folder of the server, and stay in it: "
                f"{quoted.text(name)} is refused"
            )
        try:
            path = (self.path / given).resolve()
        except (OSError, RuntimeError) as error:  # links in a circle
            raise Refused(f"this path cannot be followed: {quoted.text(name)}") from error
        if not path.is_relative_to(self.path):
            raise Refused(f"a link leads out of the folder: {quoted.text(name)} is refused")
        return path

    def run(self, name: str) -> Path:
        """The trace directory that a client means.

        Raises Refused: it is outside of the folder, or no directory.
        """
        path = self.inside(name)
        if not path.is_dir():
            raise Refused(f"there is no run {quoted.text(name)}: the tool runs lists them")
        return path

    def runs(self) -> list[str]:
        """Names of the runs in it, in order; it may be one itself, named "."."""
        return [self.name_of(Path(path)) for path in run_search.find(self.path)]

    def name_of(self, path: Path) -> str:
        """How a client names a path in the folder."""
        return os.path.relpath(path, self.path)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
