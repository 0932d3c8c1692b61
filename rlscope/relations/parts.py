"""The Parquet files of the relations of one run, for a database that has those of several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rlscope.relations.files import places
from rlscope.relations.files.lock import Lock
from rlscope.relations.files.manifest import EVENT_MANIFEST, MANIFEST, current_files
from rlscope.relations.schema import store
from rlscope.relations.trace import Trace

Files = dict[str, list[Path]]


class Parts:
    """Files of an up-to-date DIR/tables, which nobody changes until `close`.

    Opening a whole trace costs a database of its own: only a trace without such tables is opened,
    which makes them. Where they cannot be kept, copies are written into a temporary folder.
    """

    def __init__(self, root: Path, copies: Path, open_trace: Callable[[Path], Trace]) -> None:
        """Raises TraceError: not a trace directory, or nothing in it can be read.

        Args:
            root: the trace directory.
            copies: where files of these relations may be written; it need not be there.
            open_trace: opens a trace.
        """
        self.root = root
        self.files: Files = {}
        """Relation -> its files; those on request only after `open_on_request`."""
        self._copies = copies
        self._open_trace = open_trace
        self._lock = Lock(root)
        self._in_memory: Trace | None = None
        self._open()

    def _open(self) -> None:
        if self._take_files(finished=True):
            return
        self._lock.release()
        trace = self._open_trace(self.root)
        if not trace.in_memory:
            trace.close()
            # What a running process recorded meanwhile is not waited for.
            if self._take_files(finished=False):
                return
            trace = self._open_trace(self.root)
        self._in_memory = trace
        for relation in store.swept_relations():
            self.files[relation.name] = self._copy(trace, relation.name)

    def _take_files(self, *, finished: bool) -> bool:
        """Keeps writers away and finds the files; False when they are out of date."""
        if not self._lock.share():
            return False
        found = current_files(self.root, MANIFEST, finished=finished)
        if found is None or store.process.name not in found:
            return False
        self.files = found
        return True

    def _copy(self, trace: Trace, relation: str) -> list[Path]:
        self._copies.mkdir(parents=True, exist_ok=True)
        path = self._copies / f"{relation}.parquet"
        trace.write_parquet(f"FROM {relation}", path)
        return [path]

    @property
    def late_folders(self) -> list[Path]:
        """Where files of relations on request may be once they are asked for."""
        return [self._copies, places.folder_of(self.root, store.event)]

    def open_on_request(self, relation: str) -> None:
        """Adds the files of a relation on request, which it makes if need be. Raises TraceError."""
        if self._in_memory:
            self.files[relation] = self._copy(self._in_memory, relation)
        elif relation == store.event.name:
            self._open_events()
        else:
            with self._open_trace(self.root) as trace:
                self.files[relation] = self._copy(trace, relation)

    def _open_events(self) -> None:
        found = current_files(self.root, EVENT_MANIFEST, finished=False)
        if found is None:
            with self._open_trace(self.root) as trace:
                trace.first_rows("FROM event", 0)
                found = current_files(self.root, EVENT_MANIFEST, finished=False)
                if found is None:  # it could only be kept in memory
                    found = {"event": self._copy(trace, "event")}
        self.files |= found

    def close(self) -> None:
        """Lets writers in."""
        if self._in_memory:
            self._in_memory.close()
        self._lock.release()
