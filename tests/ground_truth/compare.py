"""Row-by-row comparison of two implementations, with a message that shows the rows that differ."""

from __future__ import annotations

from collections.abc import Iterable

from ground_truth.relations import Rows


def first_difference(one: Rows, other: Rows, relations: Iterable[str]) -> str | None:
    """The first relation that differs and its rows on either side; None when all are equal."""
    for relation in relations:
        if one[relation] != other[relation]:
            left = [row for row in one[relation] if row not in other[relation]]
            right = [row for row in other[relation] if row not in one[relation]]
            return "\n".join(
                [relation, *(f"  - {row}" for row in left), *(f"  + {row}" for row in right)]
            )
    return None
