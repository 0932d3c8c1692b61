"""DIR/tables: the analysis results of a trace as Parquet files, made once and shared by readers.

    tables/manifest.json   what the files were made from, and by which version
    tables/event.json      the same for `event`, which is made on request
    tables/lock            shared by readers, exclusive for the one that writes

A reader holds the lock while its trace is open. Whoever finds the files out of date writes new
ones if nobody else reads; else, or where the folder cannot be written, the same rows go into
tables in memory. So no reader ever sees the files change below it. Each file appears under a
temporary name first and is renamed, and the manifest comes last: what is killed half way is
made again.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from rlscope import __version__, _trace, own_files, process_log
from rlscope.trace import store
from rlscope.trace.database import Database

# Counts changes of what the tables mean that neither the schema nor the trace format shows.
TABLES_VERSION = 3
MANIFEST = "manifest.json"
EVENT_MANIFEST = "event.json"
# Everything that the tables are computed from, relative to the trace directory; and the rings that
# processes.log names elsewhere.
_SOURCES = ("run.json", "processes.log", "machine.jsonl", "trace/*", "rings/*")
_PARTS = re.compile(own_files.TABLE_PART)


class Lock:
    """The lock of a dataset. The kernel releases it when the process ends, however it ends."""

    def __init__(self, tables: Path) -> None:
        self._path = tables / "lock"
        self._descriptor = -1

    def share(self) -> bool:
        """Keeps writers away; False when one writes now. True without a file: nobody writes."""
        self.release()
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return True
        return self._take(fcntl.LOCK_SH)

    def own(self) -> bool:
        """Keeps everybody else away; False when somebody reads or writes, or it cannot be made."""
        self.release()
        try:
            self._path.parent.mkdir(exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(self._path, flags, 0o666)
        except OSError:
            return False
        return self._take(fcntl.LOCK_EX)

    def keep(self) -> bool:
        """Lets readers in after `own`; False when another writer was faster."""
        return self._take(fcntl.LOCK_SH)

    def release(self) -> None:
        """Lets everybody in."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _take(self, kind: int) -> bool:
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except OSError:
            self.release()
            return False
        return True


class FileSink:
    """Takes relations as columns and writes them into DIR/tables."""

    def __init__(self, root: Path, database: Database) -> None:
        self._tables = root / "tables"
        self._database = database
        self.files: dict[str, list[str]] = {}

    def put(
        self, relation: sa.Table, columns: Mapping[str, Any], process_id: int | None = None
    ) -> None:
        """Writes one file; a relation without rows has none."""
        if not _length(columns):
            return
        folder = self._tables / relation.name
        if process_id is not None:
            folder /= f"process_id={process_id}"
        folder.mkdir(parents=True, exist_ok=True)
        part, unfinished = folder / "part.parquet", folder / f"part.{os.getpid()}.tmp"
        self._database.write(relation, columns, unfinished)
        os.replace(unfinished, part)
        self.files.setdefault(relation.name, []).append(str(part.relative_to(self._tables)))


class MemorySink:
    """Takes relations as columns and keeps them in memory, for a trace that cannot be written."""

    def __init__(self, database: Database, relations: Iterable[sa.Table]) -> None:
        self._database = database
        for relation in relations:
            database.create(relation)

    def put(
        self, relation: sa.Table, columns: Mapping[str, Any], process_id: int | None = None
    ) -> None:
        """Adds rows to the relation's table."""
        length = _length(columns)
        if length:
            key = {} if process_id is None else {"process_id": np.full(length, process_id)}
            self._database.insert(relation, {**columns, **key})


def view(
    root: Path,
    files: Mapping[str, list[str]],
    relations: Iterable[sa.Table],
    database: Database,
) -> None:
    """Makes relations of an up-to-date dataset visible to queries."""
    for relation in relations:
        found = [root / "tables" / file for file in files.get(relation.name, [])]
        database.view(relation, found)


def fingerprint(root: Path) -> dict[str, Any]:
    """What tables made now would be made from: versions, and size and time of each source."""
    core = os.stat(_trace.__file__)
    return {
        "version": [__version__, core.st_size, core.st_mtime_ns],
        "tables_version": TABLES_VERSION,
        "format_version": _trace.FORMAT_VERSION,
        "columns": {
            name: [f"{column.name} {store.type_name(column.type)}" for column in relation.columns]
            for name, relation in store.relations().items()
        },
        "sources": dict(_stamps(root)),
    }


def _stamps(root: Path) -> Iterator[tuple[str, list[int]]]:
    for path in _sources(root):
        try:
            status = path.stat()
        except OSError:
            continue  # a ring that was salvaged between the listing and now
        name = path.relative_to(root) if path.is_relative_to(root) else path
        yield str(name), [status.st_size, status.st_mtime_ns]


def _sources(root: Path) -> Iterator[Path]:
    for pattern in _SOURCES:
        yield from sorted(root.glob(pattern))
    for folder in process_log.ring_folders(process_log.read(root)):
        yield from sorted(Path(folder).glob("*"))


def read_manifest(root: Path, name: str) -> dict[str, Any] | None:
    """A manifest of DIR/tables; None when there is none or it is damaged."""
    try:
        manifest = json.loads((root / "tables" / name).read_text())
    except (OSError, ValueError):
        return None
    complete = isinstance(manifest, dict) and {"made_from", "live", "files"} <= set(manifest)
    return manifest if complete else None


def write_manifest(root: Path, name: str, manifest: Mapping[str, Any]) -> None:
    """Replaces a manifest in one step."""
    unfinished = root / "tables" / f"{name}.{os.getpid()}.tmp"
    unfinished.write_text(json.dumps(manifest))
    os.replace(unfinished, root / "tables" / name)


def remove_files(root: Path, names: Iterable[str]) -> None:
    """Removes the files of these relations and every manifest, manifests first."""
    for manifest in (MANIFEST, EVENT_MANIFEST):
        (root / "tables" / manifest).unlink(missing_ok=True)
    for name in names:
        own_files.remove(str(root / "tables" / name), _PARTS)


def _length(columns: Mapping[str, Any]) -> int:
    return len(next(iter(columns.values()), ()))
