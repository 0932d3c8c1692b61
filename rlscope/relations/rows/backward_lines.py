"""The rows of the relation `backward_line`: the time of a line that ran backwards, in the shares
that a process noted for lines of the forward (rlscope/auto/backward_lines.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rlscope.relations.rows.blocked import as_list
from rlscope.relations.rows.texts import LARGEST, json_list, shown

NOTE = "rlscope.backward_lines"
"""Key of the metadata."""

_NAMES = (
    "file", "line", "function", "backward_file", "backward_line", "stage", "backward_ns",
    "backwards", "watched", "watched_ns", "nodes", "part_ns",
)  # fmt: skip
_PLACE, _NUMBERS = 2, 3  # of the note


def columns(note: str | None, source_line: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The rows of one process; a damaged note has none, and damaged rows are left out.

    Args:
        source_line: the columns of that relation.
    """
    backwards = [each for each in json_list(note) if _is_backward(each)]
    times = _own_times(source_line, {(each[0], each[1]) for each in backwards})
    rows = [row for each in backwards for row in _rows(each, times)]
    return {name: [row[place] for row in rows] for place, name in enumerate(_NAMES)}


def _rows(backward: list[Any], times: Mapping[Any, Mapping[str, int]]) -> Iterator[tuple[Any, ...]]:
    file, line, count, watched, watched_ns, parts = backward
    for stage, own_ns in times.get((file, line), {}).items():
        for each in filter(_is_part, parts):
            of_file, of_line, function, nodes, part_ns = each
            if part_ns <= watched_ns:
                yield (
                    shown(of_file), of_line, shown(function), shown(file), line, stage,
                    own_ns * part_ns // watched_ns, count, watched, watched_ns, nodes, part_ns,
                )  # fmt: skip


def _own_times(
    source_line: Mapping[str, Any], lines: set[tuple[str, int]]
) -> dict[tuple[str, int], dict[str, int]]:
    """By line and stage."""
    found: dict[tuple[str, int], dict[str, int]] = {}
    names = ("file", "line", "stage", "own_ns")
    for file, line, stage, own_ns in zip(
        *(as_list(source_line[name]) for name in names), strict=True
    ):
        if own_ns and (file, line) in lines:
            stages = found.setdefault((file, line), {})
            stages[stage] = stages.get(stage, 0) + own_ns
    return found


def _is_backward(found: Any) -> bool:
    if not isinstance(found, list) or len(found) != _PLACE + _NUMBERS + 1:
        return False
    file, line, count, watched, watched_ns, parts = found
    numbers = (line, count, watched, watched_ns)
    return (
        isinstance(file, str)
        and _are_numbers(numbers)
        and watched_ns > 0
        and isinstance(parts, list)
    )


def _is_part(found: Any) -> bool:
    if not isinstance(found, list) or len(found) != _PLACE + _NUMBERS:
        return False
    file, line, function, nodes, part_ns = found
    return (
        isinstance(file, str) and isinstance(function, str) and _are_numbers((line, nodes, part_ns))
    )


def _are_numbers(values: tuple[Any, ...]) -> bool:
    return all(type(each) is int and 0 <= each < LARGEST for each in values)
