"""Where relations go while they are made: files (file_sink.py) or memory (memory_sink.py)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import sqlalchemy as sa

from rlscope import _trace


class Sink(Protocol):
    """Takes rows, relation by relation."""

    def finish(self) -> None:
        """Returns when all rows are where they go; raises what that raised."""

    def put(
        self, relation: sa.Table, columns: Mapping[str, Any], process_id: int | None = None
    ) -> None:
        """Columns that are not given are NULL."""

    def put_rows(
        self,
        relation: sa.Table,
        rows: _trace.RowStream,
        process_id: int,
        *,
        unknown: Collection[str] = (),
    ) -> None:
        """Rows of one process, which are made meanwhile; `unknown` columns are NULL."""
