"""Operations of a run: the same path and source is the same operation in every process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

# Rows of a sweep that are states of a process and not operations that somebody annotated.
NONE = "(none)"
NOT_RECORDED = "(not recorded)"
# Not of a sweep: GPU work whose launch is not in the trace.
UNLINKED = "(unlinked)"

RULES = "rlscope.automatic"
"""Key of the metadata in which a process reports how it finds operations: rlscope/auto/rules.py."""


class Operations:
    """Numbers operations densely over all processes, parents before their children."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], int] = {}
        self._rows: list[tuple[int, int | None, str, str, int, str]] = []

    def number(self, swept: Mapping[str, Any]) -> Any:
        """Run-wide ids of the rows of one process's `operation` table; -1 for no operation."""
        ids: list[int] = []
        for position, path in enumerate(swept["path"]):
            if _is_state(swept, position):
                ids.append(-1)
                continue
            parent = int(swept["parent"][position])
            parent_id = ids[parent] if 0 <= parent < position else -1
            ids.append(self._number(path, parent_id, swept, position))
        return np.array(ids, dtype=np.int64)

    def _number(self, path: str, parent_id: int, swept: Mapping[str, Any], position: int) -> int:
        name, source = swept["name"][position], swept["source"][position]
        known = self._ids.get((path, source))
        if known is not None:
            return known
        number = self._ids[path, source] = len(self._rows)
        parent = None if parent_id < 0 else parent_id
        self._rows.append((number, parent, name, path, path_depth(path), source))
        return number

    def columns(self, rules: Mapping[str, str]) -> dict[str, list[Any]]:
        """The relation `operation`; `rules` as read_rules() returns them."""
        names = ("operation_id", "parent_operation_id", "name", "path", "depth", "source", "rule")
        rows = [
            (*row, rules.get(row[2].partition(":")[0]) if row[-1] == "automatic" else None)
            for row in self._rows
        ]
        columns = [list(column) for column in zip(*rows, strict=True)]
        return dict(zip(names, columns or [[] for _ in names], strict=True))


def read_rules(told: Iterable[str]) -> dict[str, str]:
    """Rules of operations by name, from each process's report, as JSON; the rule of compiled:f is
    that of `compiled`. Processes that watch different libraries have different rules."""
    found: dict[str, list[str]] = {}
    for text in dict.fromkeys(told):
        rules = _parsed(text)
        for name, rule in rules.items() if isinstance(rules, dict) else ():
            found.setdefault(name, []).append(str(rule))
    return {name: "; ".join(dict.fromkeys(rules)) for name, rules in found.items()}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # of another version, or cut
        return None


def sources_of_rows(swept: Mapping[str, Any]) -> Any:
    """The source of each row of one process's `operation` table, None of a state."""
    rows = enumerate(swept["source"])
    sources = [None if _is_state(swept, position) else source for position, source in rows]
    return np.array(sources, dtype=object)


def path_depth(path: str) -> int:
    r"""How many operations enclose the one at `path`; "\/" is a slash within a name.

    >>> path_depth(r"update/a\/b")
    1
    """
    return path.replace("\\\\", "").replace("\\/", "").count("/")


def _is_state(swept: Mapping[str, Any], position: int) -> bool:
    return position == 0 or (
        swept["path"][position] == NOT_RECORDED and not swept["instances"][position]
    )
