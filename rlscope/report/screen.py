"""Text on a terminal: lines of a width, in the characters that it shows."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence

from rlscope.report import units

_NARROWEST = 40
_FALLBACK = (100, 24)  # output that is no terminal

_PLAIN = {"µ": "u", "·": "-", "…": "...", "█": "#"}


def width_of(wanted: int | None) -> int:
    """Most cells of a line; None: those of the terminal."""
    known = shutil.get_terminal_size(_FALLBACK).columns if wanted is None else wanted
    return max(known, _NARROWEST)


def shown(lines: Iterable[str], width: int, unicode: bool | None) -> str:
    """The lines as text, each cut to the width.

    Args:
        unicode: whether other characters than ASCII are shown; None: as stdout encodes.
    """
    if unicode is None:
        unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    safe = map(units.visible, lines)
    return "\n".join(_fit(line if unicode else _ascii(line), width) for line in safe) + "\n"


def cells(text: str) -> int:
    """Columns of a terminal that the text takes: East Asian wide characters take two."""
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def wrapped(texts: Sequence[str], width: int) -> list[str]:
    """Sentences broken at blanks, except before a unit; their further lines are indented."""
    lines = []
    for text in texts:
        first, *words = units.words(text) or [""]
        lines.append(first)
        for word in words:
            if cells(lines[-1]) + 1 + cells(word) > width:
                lines.append(f"  {word}")
            else:
                lines[-1] += f" {word}"
    return lines


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Columns two blanks apart; those that do not fit on the right are left out. A heading that
    begins with ">" names a column that is set flush right."""
    right = [head.startswith(">") for head in heads]
    table = [[head.removeprefix(">") for head in heads], *rows]
    widths = [max(cells(row[i]) for row in table) for i in range(len(heads))]
    kept = len(widths)
    while kept > 1 and sum(widths[:kept]) + 2 * (kept - 1) > width:
        kept -= 1
    return [
        "  ".join(padded(row[i], widths[i], right[i]) for i in range(kept)).rstrip()
        for row in table
    ]


def needed(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Cells of a line that `aligned` needs for all columns."""
    table = [[head.removeprefix(">") for head in heads], *rows]
    return sum(max(cells(row[i]) for row in table) + 2 for i in range(len(heads))) - 2


def padded(text: str, width: int, right: bool) -> str:
    """The text with blanks up to a width."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def _fit(line: str, width: int) -> str:
    """The line cut to `width` cells."""
    if cells(line) <= width:
        return line
    while cells(line) > width - 3:
        line = line[:-1]
    return line + "..."


def _ascii(line: str) -> str:
    plain = "".join(_PLAIN.get(each, each) for each in line)
    return plain.encode("ascii", "backslashreplace").decode("ascii")
