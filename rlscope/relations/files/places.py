"""Where the files of each relation lie in DIR/tables, and how they are recognised."""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa

from rlscope.relations.schema import store
from rlscope.rundir import regular_files

FOLDER = "tables"
_FILE = re.compile(r"[a-z_]+/part(?:-([0-9]+))?\.parquet")


def folder_of(root: Path, relation: sa.Table) -> Path:
    """Where the files of a relation lie."""
    return root / FOLDER / relation.name


def path_of(root: Path, relation: sa.Table, process_id: int) -> Path:
    """Where rows of a relation lie that begin with those of this process."""
    return root / FOLDER / file_of(relation, process_id)


def file_of(relation: sa.Table, process_id: int | None) -> str:
    """The file of a relation, or of rows that begin with a process, relative to DIR/tables."""
    part = "part.parquet" if process_id is None else f"part-{process_id}.parquet"
    return f"{relation.name}/{part}"


def first_process(file: str) -> int:
    """The process with which the rows of a file begin; 0 where the relation is of the run."""
    match = _FILE.fullmatch(file)
    return int(match[1]) if match is not None and match[1] is not None else 0


def stamp_of(root: Path, file: str) -> list[int]:
    """What a file has that was written here and is the same since; [] when there is no such file.

    The kernel gives the inode and the time of its change. So tables that a stranger packed into a
    trace are not believed, whatever their manifest says: they are made again from the records.
    """
    try:
        status = regular_files.status(root, f"{FOLDER}/{file}")
    except OSError:
        return []
    return [status.st_ino, status.st_ctime_ns, status.st_size]


def is_name_of(relation: sa.Table, file: str) -> bool:
    """Whether a path relative to DIR/tables is that of a file of the relation."""
    match = _FILE.fullmatch(file)
    if match is None or (match[1] is None) != (store.layout_of(relation) == store.RUN):
        return False
    expected = file_of(relation, None if match[1] is None else int(match[1]))
    return file == expected
