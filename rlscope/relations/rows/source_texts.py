"""DIR/sources.jsonl as the relation `source_text`."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import Any

from rlscope.relations.rows.texts import shown
from rlscope.rundir import source_files

_COLUMNS = ("file", "line", "text")
# A file of line ends only would be that many rows.
_MOST_LINES = 1_000_000
_LINE_END = re.compile("\r\n|\r|\n")


def columns(root: Path, files: Collection[str]) -> dict[str, list[Any]]:
    """The lines of those of the files that are kept.

    Args:
        files: those of which stacks have lines.
    """
    texts = ((shown(file), text) for file, text in source_files.read(root).items())
    lines = (
        (file, number, shown(line))
        for file, text in texts
        if file in files
        for number, line in enumerate(_lines(text), start=1)
    )
    rows = list(islice(lines, _MOST_LINES))
    return {name: [row[place] for row in rows] for place, name in enumerate(_COLUMNS)}


def _lines(text: str) -> list[str]:
    """As the interpreter counts them."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]
