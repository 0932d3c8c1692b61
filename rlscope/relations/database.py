"""The SQL engine: an in-memory DuckDB behind SQLAlchemy, over the Parquet files of a trace.

There is no database file: DuckDB's locks out every other process while one writes, and its format
changes between major versions. The catalogue (views over Parquet files, or tables where those
cannot be written) is made on one connection outside any transaction, because DuckDB's DDL is
transactional: a view made inside a SQLAlchemy transaction vanishes with its rollback. Every
other connection of the process shares it by the name of the in-memory database. A view over small
files becomes a table once a statement names it.
"""

from __future__ import annotations

import os
import tempfile
import threading
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from rlscope import _trace
from rlscope.errors import QueryError
from rlscope.relations import numpy_columns, statements
from rlscope.relations.declarations import declaration
from rlscope.relations.failures import REMEDY, failures, interrupts
from rlscope.relations.workspace import Workspace, quoted
from rlscope.rundir import regular_files
from rlscope.table import Table

_RUNS = "runs"  # schema of the tables that views over several runs join
_FRUGAL = {"threads": 1, "memory_limit": "128MB"}
# Files of a relation that are read once, and kept in memory. DuckDB plans a statement in two thirds
# of the time where its relations are there, and to plan takes longer than to read few rows.
_SMALL_BYTES = 256 << 10
# Types whose values are short; HUGEINT is that of sums.
_PLAIN_TYPES = frozenset(
    ("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE")
)
Variables = Mapping[str, str | int]
"""Values of DuckDB's variables, by name."""


class Database:
    """One in-memory DuckDB. `sql` and `select` may be called from any thread."""

    def __init__(self, *, frugal: bool = False) -> None:
        """`frugal`: uses one thread and little memory, as is enough to write files."""
        identity = uuid.uuid4().hex
        self._folder = Path(tempfile.gettempdir()) / f"rlscope-{identity}"
        config = {
            # DuckDB would spill to ".tmp" in the user's working directory.
            "temp_directory": str(self._folder),
            # Installing an extension is a download, which hangs where there is no network.
            "autoinstall_known_extensions": False,
            # Objects are texts: no guessing from a sample, which fails when that is mostly NULL.
            "pandas_analyze_sample": 0,
            # A name that is no relation would be looked up among the variables of callers.
            "python_enable_replacements": False,
            **(_FRUGAL if frugal else {}),
        }
        self.engine = sa.create_engine(
            f"duckdb:///:memory:rlscope_{identity}",
            poolclass=NullPool,
            connect_args={"config": config},
        )
        # The database lives as long as this connection.
        self._root = self.engine.raw_connection()
        self._duckdb: Any = self._root.driver_connection
        self._files: list[Path] = []  # that views read
        self._small: set[str] = set()  # relations whose views read small files
        self._holding = threading.Lock()
        self._restricted = False
        sa.event.listen(self.engine, "before_cursor_execute", self._check)

    def close(self) -> None:
        """Ends the database; later queries fail."""
        self._root.close()
        self.engine.dispose()
        with suppress(OSError):  # never made, or removed by DuckDB
            self._folder.rmdir()

    def use_one_thread(self) -> None:
        """From now on each statement runs in the thread that asks for it."""
        self._duckdb.execute("SET threads = 1")

    def interrupt(self) -> None:
        """Ends the statement that another thread runs here, with an error there."""
        self._duckdb.interrupt()

    def restrict(
        self,
        more: Iterable[Path] = (),
        folders: Iterable[Path] = (),
        *,
        memory: int | None = None,
    ) -> None:
        """From now on statements read relations and nothing else. For good.

        `more`: files that views made later will read. `folders`: those that have such files.
        `memory`: bytes of memory that statements may use, and of disk; None: what there is.
        """
        files = ", ".join(_literal(str(path)) for path in (*self._files, *more))
        # The first one is where DuckDB puts what does not fit into memory.
        allowed = ", ".join(_literal(str(path)) for path in (self._folder, *folders))
        limits = () if memory is None else ("memory_limit", "max_temp_directory_size")
        for setting in (
            *(f"{each} = '{memory}B'" for each in limits),
            f"allowed_paths = [{files}]",
            f"allowed_directories = [{allowed}]",
            "autoload_known_extensions = false",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self._duckdb.execute(f"SET {setting}")
        self._restricted = True

    def _check(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        """Refuses a statement that does more than read, once that is restricted.

        DuckDB itself keeps it from other files, but not from writing those of the relations.
        """
        if not self._restricted:
            return
        statement.encode()  # DuckDB calls what is no text no str
        with suppress(duckdb.Error):  # which it will be told when it runs
            for part in duckdb.extract_statements(statement):
                # PIVOT creates a type for itself, of which there is no text.
                of_pivot = part.type == duckdb.StatementType.CREATE and not part.query
                if not (statements.only_reads(part) or of_pivot):
                    word = statements.command(part)
                    raise QueryError(f"{word} is not run, because it does more than read: {REMEDY}")

    def select(self, statement: sa.Executable) -> Table:
        """Rows of relations as a SQLAlchemy Core statement names them; raises QueryError."""
        with failures(), self._connection() as connection:
            return _table(connection.execute(statement))

    def sql(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Table:
        """The result of an SQL statement; `$name` is bound to a parameter. Raises QueryError."""
        with failures(), self._connection() as connection:
            result = connection.exec_driver_sql(statement, dict(parameters or {}))
            if result.returns_rows:
                return _table(result)
            if not duckdb.extract_statements(statement):
                raise QueryError("the statement is empty")
            return Table({})

    def first_rows(self, statement: str, most: int) -> tuple[Table, int]:
        """At most so many rows of the result of an SQL statement, and how many it has.

        A result of more rows is asked for twice, but is never held. Raises QueryError.
        """
        with failures(), self._cursor() as cursor:
            self._check(None, None, statement)
            result = cursor.sql(statement)
            if result is None:
                return Table({}), 0
            rows = result.limit(most + 1).fetchall()
            (count,) = (len(rows),) if len(rows) <= most else result.count("*").fetchone()
            return Table.from_rows(_distinct(result.columns), rows[:most]), count

    def cut_rows(
        self, statement: str, most: int, *, characters: int, seconds: float
    ) -> tuple[Table, bool]:
        """At most so many rows of the result of an SQL statement, and whether it has more.

        Numbers and truth values are as they are; all others are texts of at most so many
        characters. Raises QueryError, also when it takes longer than `seconds`.
        """
        with failures(), self._cursor() as cursor, _ended_after(cursor, seconds):
            self._check(None, None, statement)
            result = cursor.sql(statement)
            if result is None:
                raise QueryError("the statement is empty")
            names = _distinct(result.columns)
            cut = ", ".join(
                f"#{place} AS {quoted(name)}"
                if str(kind) in _PLAIN_TYPES
                else f"LEFT(CAST(#{place} AS VARCHAR), {characters:d}) AS {quoted(name)}"
                for place, (name, kind) in enumerate(zip(names, result.types, strict=True), 1)
            )
            rows = result.project(cut).limit(most + 1).fetchall()
            return Table.from_rows(names, rows[:most]), len(rows) > most

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """A connection of its own: temporary tables and open results are those of a connection.

        SQLAlchemy's cursor() would share the connection that it is asked of.
        """
        cursor = self._duckdb.duplicate()
        try:
            yield cursor
        except BaseException:
            cursor.interrupt()
            raise
        finally:
            cursor.close()

    @contextmanager
    def _connection(self) -> Iterator[sa.Connection]:
        with self.engine.connect() as connection:
            try:
                yield connection
            except BaseException:
                # A Ctrl-C between two polls leaves the statement running, and the rollback that
                # follows would wait for its end.
                connection.connection.driver_connection.interrupt()  # type: ignore[union-attr]
                raise

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        """A place for the tables of one question, gone at the end."""
        with self._cursor() as cursor:
            yield Workspace(cursor)

    def write_query(
        self,
        statement: str,
        path: Path,
        variables: Variables | None = None,
        *,
        form: str = "parquet",
    ) -> None:
        """Writes the result of an SQL statement as one file, Parquet or CSV; raises QueryError.

        getvariable('name') in the statement is variables["name"]. With parameters DuckDB would hold
        all rows.
        """
        unfinished = path.absolute().with_name(regular_files.unfinished_name(path.name))
        try:
            with failures(), self._door_to(unfinished) as door, self._cursor() as cursor:
                self._check(None, None, statement)
                for name, value in (variables or {}).items():
                    literal = _literal(value) if isinstance(value, str) else value
                    cursor.execute(f"SET VARIABLE {quoted(name)} = {literal}")
                rows = cursor.sql(statement)
                if rows is None:
                    raise QueryError("the statement returns no rows to write")
                if form == "csv":
                    rows.write_csv(str(door))
                else:
                    rows.write_parquet(str(door), compression="zstd")
                os.replace(unfinished, path)
        finally:
            with suppress(OSError):  # renamed, or never made
                unfinished.unlink()

    @contextmanager
    def _door_to(self, path: Path) -> Iterator[Path]:
        """A link to a file that DuckDB is to make, in the one folder that it may write into."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        door = self._folder / regular_files.unfinished_name("door")
        door.symlink_to(path)
        try:
            yield door
        finally:
            door.unlink()

    def read_column(self, files: Sequence[Path], name: str) -> dict[Path, Any]:
        """The value of one column in each of some Parquet files of one row."""
        rows = self._duckdb.read_parquet(
            [str(file) for file in files], hive_partitioning=False, filename=True
        )
        return {Path(file): value for file, value in rows.project(f"filename, {name}").fetchall()}

    def view(self, relation: sa.Table, files: Sequence[Path]) -> None:
        """Makes `relation` a view over Parquet files; without files it is an empty table."""
        if not files:
            self.create(relation)
            return
        self._files.extend(files)
        if sum(file.stat().st_size for file in files) <= _SMALL_BYTES:
            self._small.add(relation.name)
        names = ", ".join(quoted(column.name) for column in relation.columns)
        paths = ", ".join(_literal(str(file)) for file in files)
        # Not hive_partitioning: a user's runs/phase=2/ would take the place of a column.
        self._duckdb.execute(
            f"CREATE VIEW {quoted(relation.name)} AS SELECT {names}"
            f" FROM read_parquet([{paths}], hive_partitioning = false)"
        )

    def hold(self, names: Collection[str]) -> None:
        """Reads those of the relations into memory whose files are small, unless it did before."""
        if self._small.isdisjoint(names):
            return
        with self._holding:
            wanted = self._small.intersection(names)
            self._small -= wanted
            for name in wanted:
                with suppress(duckdb.Error), self._cursor() as cursor:
                    _hold(cursor, quoted(name))

    def add_runs(self, directories: Mapping[str, str]) -> None:
        """Makes the table that the views over several runs join: files, and whose they are."""
        self._duckdb.execute(f"CREATE SCHEMA {_RUNS}")
        self._duckdb.execute(f"CREATE TABLE {_RUNS}.run(run_id TEXT, directory TEXT)")
        self._duckdb.execute(f"CREATE TABLE {_RUNS}.part(file TEXT, run_id TEXT)")
        self._insert_texts(f"{_RUNS}.run", [*directories.items()])

    def _insert_texts(self, table: str, rows: Sequence[tuple[str, str]]) -> None:
        """Adds rows to a table of two columns. Row by row DuckDB takes a third of a millisecond."""
        first, second = zip(*rows, strict=True)
        with self._registered(
            {"first": numpy_columns.objects(first), "second": numpy_columns.objects(second)}
        ):
            self._duckdb.execute(
                f"INSERT INTO {table} SELECT first, second FROM {numpy_columns.SOURCE}"
            )

    def view_runs(self, relation: sa.Table, files: Mapping[str, Sequence[Path]]) -> None:
        """Makes `relation` a view over the Parquet files of several runs, by run_id. Its columns
        are those of the files, run_id, and `directory` of the run. Needs add_runs()."""
        rows = [(str(path), run_id) for run_id, paths in files.items() for path in paths]
        if not rows:
            self.create(relation)
            return
        self._files.extend(Path(path) for path, _ in rows)
        self._insert_texts(f"{_RUNS}.part", rows)
        places = {"run_id": "part.run_id", "directory": "run.directory"}
        columns = ", ".join(
            places.get(column.name) or f"file.{quoted(column.name)}" for column in relation.columns
        )
        paths = ", ".join(_literal(path) for path, _ in rows)
        self._duckdb.execute(
            f"CREATE VIEW {quoted(relation.name)} AS SELECT {columns}"
            f" FROM read_parquet([{paths}], hive_partitioning = false, filename = true) AS file"
            f" JOIN {_RUNS}.part AS part ON part.file = file.filename"
            f" JOIN {_RUNS}.run AS run ON run.run_id = part.run_id"
        )

    def create(self, *relations: sa.Table) -> None:
        """Makes relations empty tables in memory."""
        self._duckdb.execute(";".join(declaration(each, self.engine.dialect) for each in relations))

    def drop(self, relations: Iterable[sa.Table]) -> None:
        """Undoes `view` and `create` for those of the relations that are there."""
        made = self.sql("SELECT table_name, table_type FROM information_schema.tables")
        wanted = {relation.name for relation in relations}
        for name, kind in made:
            if name in wanted:
                what = "VIEW" if kind == "VIEW" else "TABLE"
                self._duckdb.execute(f"DROP {what} {quoted(name)}")

    def insert(self, relation: sa.Table, columns: Mapping[str, Any]) -> None:
        """Adds rows to a table made by `create`; columns that are not given are NULL."""
        names = [column.name for column in relation.columns]
        arrays = numpy_columns.arrays(relation, columns)
        with self._registered(arrays):
            rows = numpy_columns.cast(relation.columns, arrays)
            self._duckdb.execute(self._compiled(sa.insert(relation).from_select(names, rows)))

    def write(self, relation: sa.Table, columns: Mapping[str, Any], path: Path) -> int:
        """Writes rows as one Parquet file, and counts them; columns that are not given are NULL."""
        arrays = numpy_columns.arrays(relation, columns)
        with interrupts(), self._registered(arrays):
            return self._copy(numpy_columns.cast(relation.columns, arrays), path)

    def insert_rows(
        self,
        relation: sa.Table,
        rows: _trace.RowStream,
        process_id: int,
        *,
        unknown: Collection[str] = (),
    ) -> None:
        """Adds rows of one process, as they are made, to a table made by `create`; `unknown`
        columns are NULL."""
        names = [column.name for column in relation.columns]
        made = numpy_columns.of_process(relation, process_id, unknown)
        with interrupts(), self._registered(rows.__arrow_c_stream__()):
            self._duckdb.execute(self._compiled(sa.insert(relation).from_select(names, made)))

    def calls_in(self, rows: _trace.RowStream, functions: Collection[str]) -> list[tuple[Any, ...]]:
        """Name, start_ns and duration_ns of calls of some functions among rows of `event`, in order
        of start; the rows are read as they are made."""
        name: sa.ColumnClause[Any] = sa.column("name")
        start_ns: sa.ColumnClause[Any] = sa.column("start_ns")
        calls = (
            sa.select(name, start_ns, sa.column("duration_ns"))
            .select_from(sa.table(numpy_columns.SOURCE))
            .where(sa.column("kind") == "call", name.in_(sorted(functions)))
            .order_by(start_ns)
        )
        with interrupts(), self._registered(rows.__arrow_c_stream__()):
            return list(self._duckdb.execute(self._compiled(calls)).fetchall())

    def write_rows(
        self,
        relation: sa.Table,
        rows: _trace.RowStream,
        process_id: int,
        path: Path,
        *,
        unknown: Collection[str] = (),
    ) -> int:
        """Writes rows of one process, as they are made, as one Parquet file, and counts them;
        `unknown` columns are NULL."""
        with interrupts(), self._registered(rows.__arrow_c_stream__()):
            return self._copy(numpy_columns.of_process(relation, process_id, unknown), path)

    def _copy(self, rows: sa.Select[Any], path: Path) -> int:
        """Writes a Parquet file, row group by row group; what `rows` names is read once."""
        written = self._duckdb.execute(
            f"COPY ({self._compiled(rows)}) TO {_literal(str(path))}"
            " (FORMAT parquet, COMPRESSION zstd)"
        )
        (count,) = written.fetchone()
        return int(count)

    @contextmanager
    def _registered(self, source: object) -> Iterator[None]:
        """While it is open DuckDB sees the source as a table, without a copy of the numbers.

        Rows come as a capsule: of another object DuckDB makes a dataset of pyarrow's where that is
        installed, which holds rows in memory that were read long ago.
        """
        self._duckdb.register(numpy_columns.SOURCE, source)
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # closed, by a Ctrl-C on the way here
                self._duckdb.unregister(numpy_columns.SOURCE)

    def _compiled(self, statement: Any) -> str:
        return str(statement.compile(self.engine, compile_kwargs={"literal_binds": True}))


@contextmanager
def _ended_after(cursor: Any, seconds: float) -> Iterator[None]:
    """Ends what a cursor runs after so long. Raises QueryError then."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        with suppress(duckdb.Error):  # closed at this moment
            cursor.interrupt()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except duckdb.Error as error:
        if not is_late.is_set():
            raise
        raise QueryError(f"the statement took longer than {seconds:g} s, and was ended") from error
    finally:
        timer.cancel()


def _hold(cursor: Any, name: str) -> None:
    """Makes a view a table of its rows; it stays a view where that fails."""
    cursor.begin()
    try:
        cursor.execute(f"CREATE TABLE _held AS FROM {name}")
        cursor.execute(f"DROP VIEW {name}")
        cursor.execute(f"ALTER TABLE _held RENAME TO {name}")
        cursor.commit()
    except BaseException:
        cursor.rollback()
        raise


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _table(result: sa.CursorResult[Any]) -> Table:
    names = list(result.keys())
    return Table.from_rows(_distinct(names), result.fetchall())


def _distinct(names: list[str]) -> list[str]:
    """SQL may name two columns alike (SELECT a, a); the second becomes a_1, as DuckDB does."""
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        distinct.append(f"{name}_{seen[name]}" if seen[name] else name)
    return distinct
