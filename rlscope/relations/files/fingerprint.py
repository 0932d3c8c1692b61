"""What tables are made from: while it stays the same, they are up to date."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rlscope import _trace
from rlscope._version import __version__
from rlscope.relations.schema import store
from rlscope.rundir import own_files, process_log, regular_files, source_files, unrecorded_file

# Counts changes of the tables' meaning that neither the schema nor the trace format shows.
TABLES_VERSION = 8
# Everything that the tables are computed from, relative to the trace directory; and the rings that
# processes.log names elsewhere.
_SOURCES = ("run.json", "processes.log", "machine.jsonl", unrecorded_file.FILE, source_files.FILE)
_SOURCE_FOLDERS = ("trace", "rings")


def fingerprint(root: Path, costs: Mapping[str, Any] | None) -> dict[str, Any]:
    """What tables made now would be made from: versions, the costs of records
    (calibrations.chosen), and size and time of each source."""
    core = os.stat(_trace.__file__)
    return {
        "version": [__version__, core.st_size, core.st_mtime_ns],
        "tables_version": TABLES_VERSION,
        "format_version": _trace.FORMAT_VERSION,
        "columns": {
            name: [f"{column.name} {store.type_name(column.type)}" for column in relation.columns]
            for name, relation in store.relations().items()
        },
        "costs": costs,
        "sources": dict(_stamps(root)),
    }


def source_bytes(made_from: Mapping[str, Any]) -> int:
    """Bytes of the sources in a fingerprint."""
    return sum(size for size, _ in made_from["sources"].values())


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
