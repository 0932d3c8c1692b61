"""Tokens that models wrote, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rlscope.report import units

_NUMBERS = ("tokens", "generations", "duration_ns")

Rows = Sequence[dict[str, Any]]


def generations(rows: Rows) -> Iterable[str]:
    """Rows of `generation`: how many tokens in each, and how fast."""
    if not rows:
        return
    whole = {name: sum(row[name] for row in rows) for name in _NUMBERS}
    yield (
        f"Models wrote {units.plural(whole['tokens'], 'token')} in "
        f"{units.plural(whole['generations'], 'generation')}: {each(whole)} in each, "
        f"{rate(whole)} a second while they generated."
    )


def each(row: dict[str, Any]) -> str:
    """Tokens of one generation, on average."""
    return _figure(row["tokens"] / row["generations"])


def rate(row: dict[str, Any]) -> str:
    """Tokens in a second of generation."""
    return _figure(row["tokens"] * 1e9 / row["duration_ns"])


def _figure(number: float) -> str:
    return units.count(int(number) if number.is_integer() else number)
