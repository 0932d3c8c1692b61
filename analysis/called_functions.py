"""Calls of the functions that rules of analysis/findings know, most of which no program calls.

A statement about calls takes tens of milliseconds. To compare the names of the functions that there
are takes less than one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlscope.analysis import statement

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def rows_of_calls(trace: Trace, name: str, **asked: Any) -> list[dict[str, Any]]:
    """Rows of a statement that has some only if one of `functions` was called, as part called_stack
    takes them. It is asked only then."""
    if not _is_one_called(trace, asked["process_id"], asked["functions"]):
        return []
    return statement.run(trace, name, **asked).to_dicts()


def _is_one_called(trace: Trace, process_id: int, functions: Sequence[str]) -> bool:
    rows = statement.run(trace, "findings/stack_function", process_id=process_id)
    # What DuckDB matches Python does, too.
    pattern = re.compile("|".join(functions), re.DOTALL)
    return any(map(pattern.fullmatch, rows["name"]))
