"""Rows by operation and layer, as places in lists, and the operations that a reader can choose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlscope.analysis.operations import OTHER_OPERATIONS
from rlscope.report import layers, limits, palette, units

ALL = "all operations"
# Numbers of operations, of which the first is taken that gives no more than limits.PARTS parts.
_COUNTS = (limits.OPERATIONS, limits.OPERATIONS // 2, limits.OPERATIONS // 4, 2)
_PART = re.compile(r"(?:[^\\/]|\\.)+", re.DOTALL)

Row = Mapping[str, Any]


class OperationChoices:
    """The operations and layers of rows; the smallest operations are one.

    Args:
        time: the column by which operations are ranked.
        of: the columns of what has parts by operation and layer.
    """

    def __init__(self, rows: Sequence[Row], time: str, of: Sequence[str] = ()) -> None:
        sums: dict[str, int] = {}
        for row in rows:
            sums[row["operation"]] = sums.get(row["operation"], 0) + row[time]
        ranked = sorted(sums, key=lambda name: (-sums[name], name))
        ranks = {name: place for place, name in enumerate(ranked)}
        count = next((each for each in _COUNTS if _parts(rows, ranks, of, each) <= limits.PARTS), 1)
        self._names = [*ranked[:count], *([OTHER_OPERATIONS] if len(ranked) > count else [])]
        self._places = {name: min(place, count) for name, place in ranks.items()}
        ordered = layers.ordered((row["layer"], False) for row in rows)
        self._layers = [layer for layer, _ in ordered]

    def place(self, row: Row) -> tuple[int, int]:
        """Places of the row's operation and layer."""
        return self._places[row["operation"]], self._layers.index(row["layer"])

    def layers(self) -> list[tuple[str, str]]:
        """Names and colours."""
        return [(layers.label(each, False), palette.layer_colour(each)) for each in self._layers]

    def waiting(self) -> int | None:
        """The place of layer wait."""
        return self._layers.index("wait") if "wait" in self._layers else None

    def choices(self) -> dict[str, list[int]]:
        """Name -> places of its operations: all, and each operation with those inside it."""
        found = {ALL: list(range(len(self._names)))}
        for path in dict.fromkeys(each for name in self._names for each in _outer(name)):
            found[units.operation(path)] = [
                place
                for place, name in enumerate(self._names)
                if name == path or name.startswith(f"{path}/")
            ]
        return found


def _parts(rows: Sequence[Row], ranks: Mapping[str, int], of: Sequence[str], count: int) -> int:
    """How many parts there are if `count` operations are shown."""
    return len(
        {
            (*(row[name] for name in of), min(ranks[row["operation"]], count), row["layer"])
            for row in rows
        }
    )


def _outer(path: str) -> Iterator[str]:
    """The operations around one, and itself."""
    if path == OTHER_OPERATIONS:
        yield path
        return
    for part in _PART.finditer(path):
        yield path[: part.end()]
