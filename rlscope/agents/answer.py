"""What every answer to an agent has, and how a trace is opened for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlscope.agents import quoted
from rlscope.analysis import statement

if TYPE_CHECKING:
    from rlscope.opening import Trace

SCHEMA = 1
"""The version of the answers. It changes when a key changes its meaning or goes."""
UNITS = {
    "_ns": "nanoseconds",
    "_bytes": "bytes",
    "_s": "seconds",
    "share": "part of 1",
    "_share": "part of 1",
}
"""What the end of a key says of its value."""
MOST_MEMORY = 2 << 30
"""Bytes that a statement may use, and as much of the disk."""

Answer = dict[str, Any]


def answer(values: Mapping[str, Any]) -> Answer:
    """An answer with these values, after what says how to read them."""
    return {"schema": SCHEMA, "note": quoted.NOTE, "units": UNITS, **values}


@contextmanager
def opened(path: Path, notes: list[str]) -> Iterator[Trace]:
    """A trace whose statements read relations only; what a user would be told goes to `notes`.

    Raises TraceError: not a trace, or nothing in it can be read.
    """
    from rlscope.opening import load

    with load(path, memory=MOST_MEMORY, say=lambda said: notes.append(said)) as trace:
        yield trace


def asked(trace: Trace, name: str, **parameters: Any) -> Answer:
    """Rows of a statement of analysis/sql, and the statement itself."""
    rows = statement.run(trace, name, **parameters).to_dicts()
    return {"rows": cells(rows), "query": quoted.lines(statement.shown(name, **parameters))}


def cells(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the texts of the program marked."""
    return [{key: quoted.value(found) for key, found in row.items()} for row in rows]
