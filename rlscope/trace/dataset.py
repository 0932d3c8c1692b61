"""DIR/tables: the analysis results of a trace as Parquet files, made once and shared by readers.

    tables/manifest.json   what the files were made from, by which version, and which they are
    tables/event.json      the same for `event`, which is made on request
    tables/lock            shared by readers, exclusive for the one that writes

A reader holds the lock while its trace is open. If it finds the files out of date and is the only
reader, it writes new ones. Else, or where the folder cannot be written, the same rows go into
tables in memory. So no reader ever sees the files change below it. Each file appears under a
temporary name first and is renamed, and the manifest comes last: if a process is
killed half way, the tables are made again.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from rlscope import __version__, _trace, calibrations, own_files, process_log, regular_files
from rlscope.trace import store
from rlscope.trace.database import Database
from rlscope.trace.writers import Writers

# Counts changes of the tables' meaning that neither the schema nor the trace format shows.
TABLES_VERSION = 6
MANIFEST = "manifest.json"
EVENT_MANIFEST = "event.json"
FOLDER = "tables"
_LOCK = f"{FOLDER}/lock"
# Everything that the tables are computed from, relative to the trace directory; and the rings that
# processes.log names elsewhere.
_SOURCES = ("run.json", "processes.log", "machine.jsonl", calibrations.FILE)
_SOURCE_FOLDERS = ("trace", "rings")
_PARTS = re.compile(own_files.TABLE_PART)
_FILE = re.compile(r"[a-z_]+/part(?:-([0-9]+))?\.parquet")
_MOST_BYTES = 256 << 20  # of a manifest: 100 bytes for each file of a trace and of its tables


Files = dict[str, dict[str, list[int]]]


class Manifest(NamedTuple):
    """The files of DIR/tables, and their sources."""

    made_from: Any
    """fingerprint() of the trace then."""
    live: bool
    """A process of the run was still running."""
    files: Files
    """Relation -> its files, relative to DIR/tables, and the stamp of each."""


class Lock:
    """The lock of a dataset. The kernel releases it when the process ends, however it ends."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._descriptor = -1

    def share(self) -> bool:
        """Keeps writers away; False when one writes now. True without a file: no writer exists."""
        self.release()
        try:
            self._descriptor = regular_files.open_file(self._root, _LOCK)
        except OSError:
            return True
        return self._take(fcntl.LOCK_SH)

    def own(self) -> bool:
        """Keeps everybody else away; False when somebody reads or writes, or it cannot be made."""
        self.release()
        try:
            with regular_files.folder(self._root, FOLDER, make=True):
                self._descriptor = regular_files.open_file(
                    self._root, _LOCK, os.O_RDWR | os.O_CREAT
                )
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
            name: {file: found[file] for file in sorted(found, key=_first_process)}
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
        file = _file_of(relation, process_id)
        inside = f"{FOLDER}/{os.path.dirname(file)}"
        unfinished = regular_files.unfinished_name("part")
        with regular_files.folder(self._root, inside, make=True) as folder:
            if not write(self._root / inside / unfinished):
                os.unlink(unfinished, dir_fd=folder)
                return
            os.replace(unfinished, os.path.basename(file), src_dir_fd=folder, dst_dir_fd=folder)
        self.files.setdefault(relation.name, {})[file] = _file_stamp(self._root, file)


class MemorySink:
    """Takes relations as columns and keeps them in memory, for a trace that cannot be written."""

    def __init__(self, database: Database, relations: Iterable[sa.Table]) -> None:
        self._database = database
        for relation in relations:
            database.create(relation)

    def finish(self) -> None:
        """All rows are there at once."""

    def put(
        self, relation: sa.Table, columns: Mapping[str, Any], process_id: int | None = None
    ) -> None:
        """Adds rows to the relation's table."""
        if _length(columns):
            self._database.insert(relation, columns)

    def put_rows(
        self,
        relation: sa.Table,
        rows: _trace.RowStream,
        process_id: int,
        *,
        unknown: Collection[str] = (),
    ) -> None:
        """Adds rows that are made meanwhile; `unknown` columns are NULL."""
        self._database.insert_rows(relation, rows, process_id, unknown=unknown)


def view(
    root: Path,
    files: Files,
    relations: Iterable[sa.Table],
    database: Database,
) -> None:
    """Makes relations of an up-to-date dataset visible to queries.

    Raises:
        ValueError: a file is named that is none of the relation's, or not the one written.
        duckdb.Error: a file cannot be read.
    """
    for relation in relations:
        database.view(relation, _paths(root, files, relation))


def current_files(root: Path, name: str, *, finished: bool) -> dict[str, list[Path]] | None:
    """The files that the manifest `name` lists, by relation; None when they are out of date, gone
    or not written here. Keep writers away meanwhile.

    `finished`: tables made while a process still ran are out of date too.
    """
    manifest = read_manifest(root, name)
    try:
        if manifest is None or manifest.made_from != fingerprint(root):
            return None
        if finished and manifest.live:
            return None
        known = store.relations()
        return {each: _paths(root, manifest.files, known[each]) for each in manifest.files}
    except (OSError, ValueError, KeyError):
        return None


def _paths(root: Path, files: Files, relation: sa.Table) -> list[Path]:
    """The files of a relation. Raises ValueError: one is none of its, or not the one written."""
    found = files.get(relation.name, {})
    for file, stamp in found.items():
        if not _is_name_of(relation, file) or _file_stamp(root, file) != stamp:
            raise ValueError(f"no file of {relation.name}: {file}")
    return [root / FOLDER / file for file in found]


def folder_of(root: Path, relation: sa.Table) -> Path:
    """Where the files of a relation lie."""
    return root / FOLDER / relation.name


def path_of(root: Path, relation: sa.Table, process_id: int) -> Path:
    """Where rows of a relation lie that begin with those of this process."""
    return root / FOLDER / _file_of(relation, process_id)


def _file_of(relation: sa.Table, process_id: int | None) -> str:
    """The file of a relation, or of rows that begin with a process, relative to DIR/tables."""
    part = "part.parquet" if process_id is None else f"part-{process_id}.parquet"
    return f"{relation.name}/{part}"


def _first_process(file: str) -> int:
    match = _FILE.fullmatch(file)
    return int(match[1]) if match is not None and match[1] is not None else 0


def _file_stamp(root: Path, file: str) -> list[int]:
    """What a file has that was written here and is the same since; [] when there is no such file.

    The kernel gives the inode and the time of its change. So tables that a stranger packed into a
    trace are not believed, whatever their manifest says: they are made again from the records.
    """
    try:
        status = regular_files.status(root, f"{FOLDER}/{file}")
    except OSError:
        return []
    return [status.st_ino, status.st_ctime_ns, status.st_size]


def _is_name_of(relation: sa.Table, file: str) -> bool:
    match = _FILE.fullmatch(file)
    if match is None or (match[1] is None) != (store.layout_of(relation) == store.RUN):
        return False
    expected = _file_of(relation, None if match[1] is None else int(match[1]))
    return file == expected


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
    for name in _SOURCES:
        with suppress(OSError):
            yield name, _stamp(os.lstat(root / name))
    for name in _SOURCE_FOLDERS:
        yield from _stamps_in(root, name, name)
    folder = process_log.ring_folder(process_log.read(root))
    users = {os.getuid(), os.stat(root).st_uid}
    if folder is not None and own_files.is_ring_folder(folder, users):
        yield from _stamps_in(*os.path.split(folder), folder)


def _stamps_in(root: str | Path, name: str, label: str) -> Iterator[tuple[str, list[int]]]:
    with suppress(OSError):
        for file, status in regular_files.statuses(root, name).items():
            yield f"{label}/{file}", _stamp(status)


def _stamp(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mtime_ns]


def read_manifest(root: Path, name: str) -> Manifest | None:
    """A manifest of DIR/tables; None when there is none or it is damaged."""
    try:
        found = json.loads(regular_files.read(root, f"{FOLDER}/{name}", _MOST_BYTES))
        return Manifest(found["made_from"], bool(found["live"]), _checked(found["files"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _checked(files: Any) -> Files:
    """Files by relation. Raises ValueError: it is something else."""
    if not isinstance(files, dict) or not all(isinstance(each, dict) for each in files.values()):
        raise ValueError("no files")
    if not all(stamps for of_relation in files.values() for stamps in of_relation.values()):
        raise ValueError("a file without a stamp")
    return files


def write_manifest(root: Path, name: str, manifest: Manifest) -> None:
    """Replaces a manifest in one step."""
    text = json.dumps(manifest._asdict())
    regular_files.replace(root, f"{FOLDER}/{name}", text.encode())


def remove_files(root: Path, names: Iterable[str]) -> None:
    """Removes the files of these relations and every manifest, manifests first."""
    with regular_files.folder(root, FOLDER) as folder:
        for manifest in (MANIFEST, EVENT_MANIFEST):
            with suppress(FileNotFoundError):
                os.unlink(manifest, dir_fd=folder)
    for name in names:
        own_files.remove(str(root), f"{FOLDER}/{name}", _PARTS)


def _length(columns: Mapping[str, Any]) -> int:
    return len(next(iter(columns.values()), ()))
