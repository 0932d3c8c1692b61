"""Rows of the relation `import`, as processes noted them: runtime_module/import_times.h."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlscope.relations.rows.texts import LARGEST, json_list, shown
from rlscope.rundir.own_code import is_own

KEY = "rlscope.import."
"""What keys of the metadata that hold imports begin with."""

_TEXTS = ("module", "imported_by", "asked_by")
_NUMBERS = ("start_ns", "total_ns", "self_ns", "cpu_ns", "modules")
_SUMS = ("total_ns", "self_ns", "cpu_ns")


def columns(metadata: Mapping[str, str], folders: Sequence[str] = ()) -> dict[str, list[Any]]:
    """The rows of a process, each module once: one of C code is made and executed apart.

    Args:
        metadata: notes of the process.
        folders: absolute paths of what is the program's own code, too.
    """
    rows: dict[str | None, dict[str, Any]] = {}
    for key, value in metadata.items():
        if key.startswith(KEY):
            for row in _parse(value):
                _add(rows, row)
    made = {name: [row[name] for row in rows.values()] for name in (*_TEXTS, *_NUMBERS)}
    files = [(asker or "").rpartition(":")[0] for asker in made["asked_by"]]
    return made | {"is_own": [is_own(file, folders) if file else None for file in files]}


def others(metadata: Mapping[str, str]) -> dict[str, str]:
    """The metadata without imports."""
    return {key: value for key, value in metadata.items() if not key.startswith(KEY)}


def _add(rows: dict[str | None, dict[str, Any]], row: dict[str, Any]) -> None:
    known = rows.setdefault(row["module"], row)
    if known is row:
        return
    for name in _SUMS:
        known[name] += row[name]
    if row["module"] is None:
        known["modules"] += row["modules"]


def _parse(value: str) -> Iterator[dict[str, Any]]:
    for row in json_list(value):
        if _is_row(row):
            texts = [shown(text) or None for text in row[: len(_TEXTS)]]
            yield dict(zip((*_TEXTS, *_NUMBERS), [*texts, *row[len(_TEXTS) :]], strict=True))


def _is_row(row: Any) -> bool:
    if not isinstance(row, list) or len(row) != len(_TEXTS) + len(_NUMBERS):
        return False
    texts, numbers = row[: len(_TEXTS)], row[len(_TEXTS) :]
    return all(isinstance(text, str) for text in texts) and all(
        type(number) is int and abs(number) < LARGEST >> 16 for number in numbers
    )
