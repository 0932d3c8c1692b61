"""Traces: several runs behind one SQL, so that a sweep over seeds is one question."""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlscope import registry
from rlscope.errors import TraceError
from rlscope.relations.database import Database
from rlscope.relations.parts import Parts
from rlscope.relations.queries import Queries
from rlscope.relations.schema import store
from rlscope.relations.trace import Trace
from rlscope.table import Table

if TYPE_CHECKING:
    import sqlalchemy as sa


class Traces(Queries):
    """The relations of several runs. Every relation has a column run_id in front, that of relation
    `run`, which has one row each. Ids such as process_id count within a run: joins name both.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        unrestricted: bool = False,
        open_trace: Callable[[Path], Trace] = Trace,
    ) -> None:
        """See rls.load_many.

        Raises TraceError: there is none, one is no trace or cannot be read, or two are of one run.
        """
        if not paths:
            raise TraceError("no trace directory is named")
        self.paths = tuple(paths)
        self._runs: dict[str, Parts] = {}
        self._holder = _Holder()
        self._closer = weakref.finalize(self, self._holder.close)
        self._making = threading.Lock()
        self._made: set[str] = set()
        try:
            self._open(open_trace, unrestricted)
        except BaseException:
            self.close()
            raise

    @property
    def relations(self) -> dict[str, sa.Table]:
        """The schema: every relation by name. Its comments are the meaning of each column."""
        return store.relations_of_runs()

    def close(self) -> None:
        """Lets go of the files; later queries fail."""
        self._closer()

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[Trace]:
        """Opens one run after the other; the one who asks closes it."""
        return map(Trace, self.paths)

    @property
    def runs(self) -> Table:
        """The relation `run`: one row for each."""
        return self.table("run")

    def _order(self, relation: str) -> tuple[str, ...]:
        return ("run_id",) if relation == "run" else ()

    def __repr__(self) -> str:
        return f"<Traces of {len(self)} runs>"

    def _repr_html_(self) -> str:
        """The runs in a notebook: a row each, with its headline."""
        return str(registry.load(registry.RENDERERS, "notebook")(self))

    @property
    def _database(self) -> Database:
        return self._holder.database

    def _open(self, open_trace: Callable[[Path], Trace], unrestricted: bool) -> None:
        for number, path in enumerate(self.paths):
            copies = Path(self._holder.copies.name) / str(number)
            self._holder.parts.append(Parts(path, copies, open_trace))
        self._runs = self._by_run_id(self._holder.parts)
        self._database.add_runs({key: str(parts.root) for key, parts in self._runs.items()})
        for name, relation in self.relations.items():
            if name not in store.ON_REQUEST:
                self._view(relation)
        if not unrestricted:
            self._database.restrict(
                folders=[folder for parts in self._holder.parts for folder in parts.late_folders]
            )

    def _by_run_id(self, opened: Sequence[Parts]) -> dict[str, Parts]:
        """Raises TraceError: two are of one run."""
        files = [file for parts in opened for file in parts.files["run"]]
        run_ids = self._database.read_column(files, "run_id")
        runs: dict[str, Parts] = {}
        for file, parts in zip(files, opened, strict=True):
            run_id = run_ids[file]
            if run_id in runs:
                both = f"{runs[run_id].root}, {parts.root}"
                raise TraceError(f"both are traces of one run, give only one of them: {both}")
            runs[run_id] = parts
        return runs

    def _view(self, relation: sa.Table) -> None:
        files = {key: parts.files.get(relation.name, []) for key, parts in self._runs.items()}
        self._database.view_runs(relation, files)

    def _make_on_request(self, relation: str) -> None:
        with self._making:
            if relation not in self._made:
                for parts in self._holder.parts:
                    parts.open_on_request(relation)
                self._view(self.relations[relation])
                self._made.add(relation)


class _Holder:
    """What has to be closed, apart from the object that somebody may forget to close."""

    def __init__(self) -> None:
        self.database = Database()
        self.parts: list[Parts] = []
        self.copies = tempfile.TemporaryDirectory(prefix="rlscope-")

    def close(self) -> None:
        self.database.close()
        for parts in self.parts:
            parts.close()
        self.copies.cleanup()
