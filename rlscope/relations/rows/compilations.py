"""The rows of the relation `compilation`, from the note of a process
(rlscope/auto/compilations.py)."""

from __future__ import annotations

from typing import Any

from rlscope.relations.rows.texts import LARGEST, json_list, shown

NOTE = "rlscope.compilations"
"""Key of the metadata."""

_NAMES = (
    *("compiler", "function", "file", "line"),
    *("count", "total_ns", "early_count", "early_ns"),
)
_FEWEST = 6  # notes of old runs do not say what came early


def columns(note: str | None) -> dict[str, list[Any]]:
    """The rows of one process; a damaged note has none, and a damaged row is left out."""
    rows = [row for each in json_list(note) if (row := _row(each)) is not None]
    return {name: [row[place] for row in rows] for place, name in enumerate(_NAMES)}


def _row(found: Any) -> tuple[Any, ...] | None:
    if not isinstance(found, list) or len(found) not in (_FEWEST, len(_NAMES)):
        return None
    found = [*found, *[0] * (len(_NAMES) - len(found))]
    texts, numbers = found[:3], found[3:]
    if not all(isinstance(each, str) for each in texts):
        return None
    if not all(type(each) is int and 0 <= each < LARGEST for each in numbers):
        return None
    compiler, function, file = map(shown, texts)
    line, *counted = numbers
    return compiler, function, file or None, line or None, *counted
