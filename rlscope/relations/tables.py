"""Tables: the relations of one trace directory, from DIR/tables or made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import sqlalchemy as sa

from rlscope import _trace
from rlscope.costs import calibrations
from rlscope.errors import TraceError
from rlscope.relations.database import Database
from rlscope.relations.files import manifest as manifests
from rlscope.relations.files import places
from rlscope.relations.files.file_sink import FileSink
from rlscope.relations.files.fingerprint import fingerprint, source_bytes
from rlscope.relations.files.lock import Lock
from rlscope.relations.files.manifest import EVENT_MANIFEST, MANIFEST, Files, Manifest
from rlscope.relations.files.memory_sink import MemorySink
from rlscope.relations.files.sink import Sink
from rlscope.relations.rows.build import build
from rlscope.relations.rows.events import build_events
from rlscope.relations.rows.progress import Progress, Tell
from rlscope.relations.schema import store
from rlscope.rundir import run_search

_NAMED_RUNS = 5
# With one thread, summaries of fewer took 15 to 20 % less CPU time, and no more wall time.
_FEW_BYTES = 16 << 20


class Tables:
    """Opens, or makes, the relations; keeps the lock on DIR/tables while they are in use.

    One thread at a time, but `database` may be queried from any.
    """

    def __init__(
        self,
        root: Path,
        *,
        unrestricted: bool = False,
        calibrated: bool = True,
        tell: Tell | None = None,
        memory: int | None = None,
    ) -> None:
        """See Trace. `tell` is called with how far tables are while they are made."""
        self.database = Database()
        self.in_memory = False
        self._root = root
        self._unrestricted = unrestricted
        self._tell = tell
        self._memory = memory
        self._costs = calibrations.chosen(root) if calibrated else None
        self._lock = Lock(root)
        self._made_from: dict[str, Any] = {}
        self._directory: _trace.Directory | None = None
        self._has_events = False

    def open(self) -> None:
        """Makes every relation but those on request visible to queries. Raises TraceError."""
        self._make()
        if source_bytes(self._made_from) < _FEW_BYTES:
            self.database.use_one_thread()
        if not self._unrestricted:
            # Relations in memory take what they take.
            memory = None if self.in_memory else self._memory
            self.database.restrict(self._event_files(), memory=memory)

    def _make(self) -> None:
        try:
            self._made_from = fingerprint(self._root, self._costs)
        except (OSError, ValueError) as error:  # a path that no directory can have
            reason = getattr(error, "strerror", None) or error
            raise TraceError(f"cannot read {self._root}: {reason}") from error
        if self._lock.share() and self._view_files(finished=True):
            return
        directory = self._open_directory()
        if self._lock.own() and self._write_files(directory):
            return
        self._lock.release()
        self.in_memory = True
        sink = MemorySink(self.database, store.swept_relations())
        build(directory, self._root, sink, Progress(directory, self._tell), self._costs)

    def _event_files(self) -> list[Path]:
        """Where `event` will be, once it is asked for."""
        if self.in_memory:
            return []
        processes = self.database.select(store.process.select())["process_id"]
        return [places.path_of(self._root, store.event, process) for process in processes]

    def _build_events(self, sink: Sink) -> None:
        directory = self._open_directory()
        build_events(directory, self._operations(), sink, Progress(directory, self._tell))

    def _operations(self) -> list[tuple[str, str, int]]:
        """Path, source and id of each operation."""
        columns = store.operation.columns
        rows = self.database.select(sa.select(columns.path, columns.source, columns.operation_id))
        return list(rows)

    def open_events(self) -> None:
        """Makes the relation `event` visible to queries. Raises TraceError."""
        if not self._has_events:
            if not (self._view_events() or self._write_events()):
                sink = MemorySink(self.database, [store.event])
                self._build_events(sink)
            self._has_events = True

    def close(self) -> None:
        """Ends the database and lets writers in."""
        self.database.close()
        self._lock.release()

    def _view_files(self, *, finished: bool) -> bool:
        """Uses DIR/tables as it is; False when it is out of date.

        `finished`: tables made while a process still ran are out of date too, since what is
        written through a mapped ring need not change the time of its file.
        """
        manifest = manifests.read(self._root, MANIFEST)
        if manifest is None or manifest.made_from != self._made_from:
            return False
        if finished and manifest.live:
            return False
        # Each trace has a process. A manifest that names no file of it was not written here.
        return store.process.name in manifest.files and self._view(
            manifest.files, store.swept_relations()
        )

    def _write_files(self, directory: _trace.Directory) -> bool:
        """Makes DIR/tables anew and uses it; False when that fails. Needs the lock for itself."""

        def fill(sink: Sink) -> None:
            manifests.remove_files(self._root, store.relations())
            build(directory, self._root, sink, Progress(directory, self._tell), self._costs)

        live = any(process["ended"] == "running" for process in directory.processes)
        written = self._fill_files(fill, MANIFEST, live=live)
        return written and self._lock.keep() and self._view_files(finished=False)

    def _view_events(self) -> bool:
        manifest = manifests.read(self._root, EVENT_MANIFEST)
        if self.in_memory or manifest is None or manifest.made_from != self._made_from:
            return False
        return self._view(manifest.files, [store.event])

    def _view(self, files: Files, relations: Iterable[sa.Table]) -> bool:
        """Makes relations visible; False when their files are gone, damaged or none of theirs."""
        try:
            manifests.view(self._root, files, relations, self.database)
        except (duckdb.Error, ValueError):
            self.database.drop(relations)
            return False
        return True

    def _write_events(self) -> bool:
        """Other readers may be there: what they write is the same, made from the same sources."""
        if self.in_memory or fingerprint(self._root, self._costs) != self._made_from:
            return False
        return (
            self._fill_files(self._build_events, EVENT_MANIFEST, live=False) and self._view_events()
        )

    def _fill_files(self, fill: Callable[[Sink], None], manifest: str, *, live: bool) -> bool:
        """Writes files and their manifest; False for want of space or permission."""
        sink = FileSink(self._root)
        try:
            fill(sink)
            content = Manifest(self._made_from, live, sink.files)
            manifests.write(self._root, manifest, content)
        except (OSError, duckdb.IOException):
            return False
        finally:
            sink.close()
        return True

    def _open_directory(self) -> _trace.Directory:
        if self._directory is None:
            try:
                directory = _trace.Directory(str(self._root))
            except (_trace.TraceError, OSError) as error:
                raise TraceError(f"{error}{_runs_below(self._root)}") from error
            if not directory.processes:
                raise TraceError(f"no process was traced: {self._root}")
            self._directory = directory
        return self._directory


def _runs_below(folder: Path) -> str:
    """The runs in a folder that is none itself, for who names it instead of one of them."""
    with suppress(OSError):
        if found := run_search.find(folder):
            more = f" and {len(found) - _NAMED_RUNS} more" if len(found) > _NAMED_RUNS else ""
            return f". Runs below it: {', '.join(found[:_NAMED_RUNS])}{more}"
    return ""
