"""Texts and numbers of a run's JSON files, as a relation can hold them."""

from __future__ import annotations

import json
from typing import Any

LARGEST = 1 << 63
"""The first number that a BIGINT cannot hold."""


def shown(value: Any) -> Any:
    """A text without halves of surrogate pairs, on which DuckDB breaks: `\\udce9` is a byte that is
    no text, of a command line."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def json_list(note: str | None) -> list[Any]:
    """The list that a process noted as JSON; a damaged note has no member."""
    try:
        found = json.loads(note or "[]")
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []
