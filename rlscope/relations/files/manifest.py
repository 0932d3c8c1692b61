"""The manifests of DIR/tables: what its files were made from, and which they are."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from rlscope.costs import calibrations
from rlscope.relations.database import Database
from rlscope.relations.files import places
from rlscope.relations.files.fingerprint import fingerprint
from rlscope.relations.files.places import FOLDER
from rlscope.relations.schema import store
from rlscope.rundir import own_files, regular_files

MANIFEST = "manifest.json"
EVENT_MANIFEST = "event.json"
_PARTS = re.compile(own_files.TABLE_PART)
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


def read(root: Path, name: str) -> Manifest | None:
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


def write(root: Path, name: str, manifest: Manifest) -> None:
    """Replaces a manifest in one step."""
    text = json.dumps(manifest._asdict())
    regular_files.replace(root, f"{FOLDER}/{name}", text.encode())


def current_files(root: Path, name: str, *, finished: bool) -> dict[str, list[Path]] | None:
    """The files that the manifest `name` lists, by relation; None when they are out of date, gone
    or not written here. Keep writers away meanwhile.

    `finished`: tables made while a process still ran are out of date too.
    """
    manifest = read(root, name)
    try:
        if manifest is None or manifest.made_from != fingerprint(root, calibrations.chosen(root)):
            return None
        if finished and manifest.live:
            return None
        known = store.relations()
        return {each: _paths(root, manifest.files, known[each]) for each in manifest.files}
    except (OSError, ValueError, KeyError):
        return None


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
    found = {relation: _paths(root, files, relation) for relation in relations}
    database.create(*(relation for relation, paths in found.items() if not paths))
    for relation, paths in found.items():
        if paths:
            database.view(relation, paths)


def _paths(root: Path, files: Files, relation: sa.Table) -> list[Path]:
    """The files of a relation. Raises ValueError: one is none of its, or not the one written."""
    found = files.get(relation.name, {})
    for file, stamp in found.items():
        if not places.is_name_of(relation, file) or places.stamp_of(root, file) != stamp:
            raise ValueError(f"no file of {relation.name}: {file}")
    return [root / FOLDER / file for file in found]


def remove_files(root: Path, names: Iterable[str]) -> None:
    """Removes the files of these relations and every manifest, manifests first."""
    with regular_files.folder(root, FOLDER) as folder:
        for manifest in (MANIFEST, EVENT_MANIFEST):
            with suppress(FileNotFoundError):
                os.unlink(manifest, dir_fd=folder)
    for name in names:
        own_files.remove(str(root), f"{FOLDER}/{name}", _PARTS)
