"""Texts and numbers of a run's JSON files, as a relation can hold them."""

from __future__ import annotations

from typing import Any

LARGEST = 1 << 63
"""The first number that a BIGINT cannot hold."""


def shown(value: Any) -> Any:
    """A text without halves of surrogate pairs, on which DuckDB breaks: `\\udce9` is a byte that is
    no text, of a command line."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value
