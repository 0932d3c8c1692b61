"""A page inside of a notebook: `trace.report()`."""

from __future__ import annotations

import html
import os
from pathlib import Path

from rlscope.errors import RlscopeError
from rlscope.rundir import regular_files

_HEIGHT = 720  # pixels: about a screen


class InlinePage:
    """One self-contained HTML page. A notebook shows it in a frame of its own, whose scripts reach
    nothing of the notebook; `save` writes it."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The page."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page, whole or not at all, and returns its path.

        Raises RlscopeError: it cannot be written.
        """
        file = Path(path)
        try:
            regular_files.replace(
                file.parent, file.name, self.text.encode(errors="backslashreplace")
            )
        except OSError as error:
            raise RlscopeError(f"cannot write {file}: {error.strerror}") from error
        return file

    def __repr__(self) -> str:
        return f"<page of {len(self.text):,} characters: save(path) writes it>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts allow-popups" width="100%" height="{_HEIGHT}" '
            f'style="border:0" srcdoc="{html.escape(self.text)}"></iframe>'
        )
