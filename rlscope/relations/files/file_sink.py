"""Writes relations into DIR/tables, several files at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from rlscope import _trace
from rlscope.relations.database import Database
from rlscope.relations.files import places
from rlscope.relations.files.manifest import Files
from rlscope.relations.files.places import FOLDER
from rlscope.relations.files.writers import Writers
from rlscope.rundir import regular_files


class FileSink:
    """Takes relations as columns and writes them into DIR/tables, several files at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._writers = Writers()
        self.files: Files = {}
        """Complete, and in order of their processes, after `finish`."""

    def finish(self) -> None:
        """Returns when all files are written; raises what that raised."""
        self._writers.finish()
        self.files = {
            name: {file: found[file] for file in sorted(found, key=places.first_process)}
            for name, found in sorted(self.files.items())
        }

    def close(self) -> None:
        """Ends what is still being written, and the databases that write."""
        self._writers.close()

    def put(
        self, relation: sa.Table, columns: Mapping[str, Any], process_id: int | None = None
    ) -> None:
        """Writes one file; a relation without rows has none. `process_id`: the first of those that
        the rows are about."""
        if _length(columns):
            self._submit(relation, process_id, lambda to, path: to.write(relation, columns, path))

    def put_rows(
        self,
        relation: sa.Table,
        rows: _trace.RowStream,
        process_id: int,
        *,
        unknown: Collection[str] = (),
    ) -> None:
        """Writes one file with rows that are made meanwhile; `unknown` columns are NULL."""
        self._submit(
            relation,
            process_id,
            lambda to, path: to.write_rows(relation, rows, process_id, path, unknown=unknown),
        )

    def _submit(
        self, relation: sa.Table, process_id: int | None, write: Callable[[Database, Path], int]
    ) -> None:
        self._writers.submit(
            lambda to: self._write(relation, process_id, lambda path: write(to, path))
        )

    def _write(
        self, relation: sa.Table, process_id: int | None, write: Callable[[Path], int]
    ) -> None:
        """Keeps a file that has rows; `write` returns how many it wrote. In one of the writers."""
        file = places.file_of(relation, process_id)
        inside = f"{FOLDER}/{os.path.dirname(file)}"
        unfinished = regular_files.unfinished_name("part")
        with regular_files.folder(self._root, inside, make=True) as folder:
            if not write(self._root / inside / unfinished):
                os.unlink(unfinished, dir_fd=folder)
                return
            os.replace(unfinished, os.path.basename(file), src_dir_fd=folder, dst_dir_fd=folder)
        self.files.setdefault(relation.name, {})[file] = places.stamp_of(self._root, file)


def _length(columns: Mapping[str, Any]) -> int:
    return len(next(iter(columns.values()), ()))
