"""Operations of a run: the same path is the same operation in every process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# Rows of a sweep that are states of a process and not operations that somebody annotated.
NONE = "(none)"
NOT_RECORDED = "(not recorded)"


class Operations:
    """Numbers operations densely over all processes, parents before their children."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
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
        known = self._ids.get(path)
        if known is not None:
            if source == "explicit":  # annotated somewhere: not automatic
                self._rows[known] = (*self._rows[known][:-1], source)
            return known
        number = self._ids[path] = len(self._rows)
        parent = None if parent_id < 0 else parent_id
        self._rows.append((number, parent, name, path, path_depth(path), source))
        return number

    def columns(self) -> dict[str, list[Any]]:
        """The relation `operation`."""
        names = ("operation_id", "parent_operation_id", "name", "path", "depth", "source")
        columns = [list(column) for column in zip(*self._rows, strict=True)]
        return dict(zip(names, columns or [[] for _ in names], strict=True))


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
