"""The SQL engine: an in-memory DuckDB behind SQLAlchemy, over the Parquet files of a trace.

There is no database file: DuckDB's locks out every other process while one writes, and its format
changes between major versions. The catalogue (views over Parquet files, or tables where those
cannot be written) is made on one connection outside any transaction, because DuckDB's DDL is
transactional: a view made inside a SQLAlchemy transaction vanishes with its rollback. Every
other connection of the process shares it by the name of the in-memory database.
"""

from __future__ import annotations

import os
import re
import tempfile
import uuid
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import sqlalchemy as sa
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import BigInteger, Boolean, Double

from rlscope import _trace
from rlscope.errors import QueryError
from rlscope.rundir import regular_files
from rlscope.table import Table

_RUNS = "runs"  # schema of the tables that views over several runs join
_SOURCE = "_columns"  # name of the numpy columns while DuckDB reads them
_REMEDY = "--unrestricted, or rls.load(..., unrestricted=True), allows it"
# Behind white space and comments.
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/)*([A-Za-z]+)")
# Without comments, which nest: what is explained must be what DuckDB sees.
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?:ANALYZE\s+)?(?:\([^()]*\)\s*(?=\w))?", re.IGNORECASE)
_FRUGAL = {"threads": 1, "memory_limit": "128MB"}
Variables = Mapping[str, str | int]
"""Values of DuckDB's variables, by name."""
_NUMPY_TYPES = {BigInteger: np.int64, Double: np.float64, Boolean: np.bool_}


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
        self._restricted = False
        sa.event.listen(self.engine, "before_cursor_execute", self._check)

    def close(self) -> None:
        """Ends the database; later queries fail."""
        self._root.close()
        self.engine.dispose()
        with suppress(OSError):  # never made, or removed by DuckDB
            self._folder.rmdir()

    def interrupt(self) -> None:
        """Ends the statement that another thread runs here, with an error there."""
        self._duckdb.interrupt()

    def restrict(self, more: Iterable[Path] = (), folders: Iterable[Path] = ()) -> None:
        """From now on statements read relations and nothing else. For good.

        `more`: files that views made later will read. `folders`: those that have such files.
        """
        files = ", ".join(_literal(str(path)) for path in (*self._files, *more))
        # The first one is where DuckDB puts what does not fit into memory.
        allowed = ", ".join(_literal(str(path)) for path in (self._folder, *folders))
        for setting in (
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
                if not (_reads(part) or of_pivot):
                    raise QueryError(
                        f"{_command(part)} is not run, because it does more than read: {_REMEDY}"
                    )

    def select(self, statement: sa.Executable) -> Table:
        """Rows of relations as a SQLAlchemy Core statement names them; raises QueryError."""
        with _failures(), self._connection() as connection:
            return _table(connection.execute(statement))

    def sql(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Table:
        """The result of an SQL statement; `$name` is bound to a parameter. Raises QueryError."""
        with _failures(), self._connection() as connection:
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
        with _failures(), self._cursor() as cursor:
            self._check(None, None, statement)
            result = cursor.sql(statement)
            if result is None:
                return Table({}), 0
            rows = result.limit(most + 1).fetchall()
            (count,) = (len(rows),) if len(rows) <= most else result.count("*").fetchone()
            return Table.from_rows(_distinct(result.columns), rows[:most]), count

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
            with _failures(), self._door_to(unfinished) as door, self._cursor() as cursor:
                self._check(None, None, statement)
                for name, value in (variables or {}).items():
                    literal = _literal(value) if isinstance(value, str) else value
                    cursor.execute(f"SET VARIABLE {_quoted(name)} = {literal}")
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
        # Not hive_partitioning: a user's runs/phase=2/ would take the place of a column.
        rows = self._duckdb.read_parquet([str(file) for file in files], hive_partitioning=False)
        self._files.extend(files)
        names = ", ".join(_quoted(column.name) for column in relation.columns)
        rows.project(names).create_view(relation.name)

    def add_runs(self, directories: Mapping[str, str]) -> None:
        """Makes the table that the views over several runs join: files, and whose they are."""
        self._duckdb.execute(f"CREATE SCHEMA {_RUNS}")
        self._duckdb.execute(f"CREATE TABLE {_RUNS}.run(run_id TEXT, directory TEXT)")
        self._duckdb.execute(f"CREATE TABLE {_RUNS}.part(file TEXT, run_id TEXT)")
        self._insert_texts(f"{_RUNS}.run", [*directories.items()])

    def _insert_texts(self, table: str, rows: Sequence[tuple[str, str]]) -> None:
        """Adds rows to a table of two columns. Row by row DuckDB takes a third of a millisecond."""
        first, second = zip(*rows, strict=True)
        with self._registered({"first": _objects(first), "second": _objects(second)}):
            self._duckdb.execute(f"INSERT INTO {table} SELECT first, second FROM {_SOURCE}")

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
            places.get(column.name) or f"file.{_quoted(column.name)}" for column in relation.columns
        )
        paths = ", ".join(_literal(path) for path, _ in rows)
        self._duckdb.execute(
            f"CREATE VIEW {_quoted(relation.name)} AS SELECT {columns}"
            f" FROM read_parquet([{paths}], hive_partitioning = false, filename = true) AS file"
            f" JOIN {_RUNS}.part AS part ON part.file = file.filename"
            f" JOIN {_RUNS}.run AS run ON run.run_id = part.run_id"
        )

    def create(self, relation: sa.Table) -> None:
        """Makes `relation` an empty table in memory."""
        self._duckdb.execute(str(CreateTable(relation).compile(self.engine)))

    def drop(self, relations: Iterable[sa.Table]) -> None:
        """Undoes `view` and `create` for those of the relations that are there."""
        made = self.sql("SELECT table_name, table_type FROM information_schema.tables")
        wanted = {relation.name for relation in relations}
        for name, kind in made:
            if name in wanted:
                what = "VIEW" if kind == "VIEW" else "TABLE"
                self._duckdb.execute(f"DROP {what} {_quoted(name)}")

    def insert(self, relation: sa.Table, columns: Mapping[str, Any]) -> None:
        """Adds rows to a table made by `create`; columns that are not given are NULL."""
        names = [column.name for column in relation.columns]
        arrays = _arrays(relation, columns)
        with self._registered(arrays):
            rows = _cast(relation.columns, arrays)
            self._duckdb.execute(self._compiled(sa.insert(relation).from_select(names, rows)))

    def write(self, relation: sa.Table, columns: Mapping[str, Any], path: Path) -> int:
        """Writes rows as one Parquet file, and counts them; columns that are not given are NULL."""
        arrays = _arrays(relation, columns)
        with _interrupts(), self._registered(arrays):
            return self._copy(_cast(relation.columns, arrays), path)

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
        made = _of_process(relation, process_id, unknown)
        with _interrupts(), self._registered(rows.__arrow_c_stream__()):
            self._duckdb.execute(self._compiled(sa.insert(relation).from_select(names, made)))

    def calls_in(self, rows: _trace.RowStream, functions: Collection[str]) -> list[tuple[Any, ...]]:
        """Name, start_ns and duration_ns of calls of some functions among rows of `event`, in order
        of start; the rows are read as they are made."""
        name: sa.ColumnClause[Any] = sa.column("name")
        start_ns: sa.ColumnClause[Any] = sa.column("start_ns")
        calls = (
            sa.select(name, start_ns, sa.column("duration_ns"))
            .select_from(sa.table(_SOURCE))
            .where(sa.column("kind") == "call", name.in_(sorted(functions)))
            .order_by(start_ns)
        )
        with _interrupts(), self._registered(rows.__arrow_c_stream__()):
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
        with _interrupts(), self._registered(rows.__arrow_c_stream__()):
            return self._copy(_of_process(relation, process_id, unknown), path)

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
        self._duckdb.register(_SOURCE, source)
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # closed, by a Ctrl-C on the way here
                self._duckdb.unregister(_SOURCE)

    def _compiled(self, statement: Any) -> str:
        return str(statement.compile(self.engine, compile_kwargs={"literal_binds": True}))


class Workspace:
    """Tables of one's own beside the relations, for a question that takes several steps.

    Statements are rlscope's own: they may do whatever the database lets them. All raise QueryError.
    """

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def make(self, table: str, statement: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Makes a table of the result of a statement, for the statements that follow."""
        self._run(f"CREATE TEMP TABLE {_quoted(table)} AS\n{statement}", parameters)

    def columns(
        self, statement: str, parameters: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The result of a statement as numpy arrays; one with NULL among its numbers is masked."""
        self._run(statement, parameters)
        with _failures():
            return dict(self._cursor.fetchnumpy())

    def rows(
        self, statement: str, parameters: Mapping[str, Any] | None = None
    ) -> list[tuple[Any, ...]]:
        """The result of a statement row by row."""
        self._run(statement, parameters)
        with _failures():
            return list(self._cursor.fetchall())

    def _run(self, statement: str, parameters: Mapping[str, Any] | None) -> None:
        with _failures():
            self._cursor.execute(statement, dict(parameters or {}))


def _reads(part: Any) -> bool:
    """Whether a statement is a SELECT, or explains one; what EXPLAIN ANALYZE explains is run."""
    if part.type != duckdb.StatementType.EXPLAIN:
        return bool(part.type == duckdb.StatementType.SELECT)
    before = _EXPLAIN.match(part.query)
    if before is None:
        return False
    try:
        explained = duckdb.extract_statements(part.query[before.end() :])
    except duckdb.Error:
        return False
    return [each.type for each in explained] == [duckdb.StatementType.SELECT]


def _command(part: Any) -> str:
    """The word that a statement begins with: DuckDB's own name of INSTALL is LOAD."""
    word = _FIRST_WORD.match(part.query)
    return word[1].upper() if word else str(part.type.name)


def _arrays(relation: sa.Table, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The given columns as numpy arrays.

    DuckDB ignores the masks of numpy arrays, so a column with NULLs travels with a second one
    that says which of its values are valid.
    """
    arrays: dict[str, Any] = {}
    for column in relation.columns:
        if column.name in columns:
            plain, valid = array_of(columns[column.name], column.type)
            arrays[column.name] = plain
            if valid is not None:
                arrays[_valid(column.name)] = valid
    return arrays


def _valid(name: str) -> str:
    return f"{name} is valid"


def array_of(values: Any, type_: Any) -> tuple[Any, Any]:
    """A column as (array that DuckDB reads, flags of its valid values or None: all)."""
    wanted = _NUMPY_TYPES.get(type(type_))
    if wanted is None:
        return _objects(values), None
    if isinstance(values, np.ma.MaskedArray):
        return values.data.astype(wanted, copy=False), ~np.ma.getmaskarray(values)
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values, None
    values = list(values)
    valid = np.fromiter((value is not None for value in values), np.bool_, len(values))
    return np.array([0 if value is None else value for value in values], dtype=wanted), valid


def _objects(values: Any) -> Any:
    """Text: an array of objects, because DuckDB takes numpy's own text type for an ENUM."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _cast(wanted: Iterable[sa.Column[Any]], arrays: Container[str]) -> sa.Select[Any]:
    """The registered columns with the names, order and types of the wanted ones."""
    return sa.select(*(_cell(column, arrays) for column in wanted)).select_from(sa.table(_SOURCE))


def _of_process(relation: sa.Table, process_id: int, unknown: Collection[str]) -> sa.Select[Any]:
    """The registered rows of one process as those of the relation."""
    cells = [
        sa.literal(process_id)
        if column.name == "process_id"
        else sa.null()
        if column.name in unknown
        else sa.column(column.name)
        for column in relation.columns
    ]
    typed = zip(cells, relation.columns, strict=True)
    return sa.select(
        *(sa.cast(cell, column.type).label(column.name) for cell, column in typed)
    ).select_from(sa.table(_SOURCE))


def _cell(column: sa.Column[Any], arrays: Container[str]) -> sa.ColumnElement[Any]:
    value: Any = sa.column(column.name) if column.name in arrays else sa.null()
    if _valid(column.name) in arrays:
        value = sa.case((sa.column(_valid(column.name)), value))
    return sa.cast(value, column.type).label(column.name)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


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


@contextmanager
def _failures() -> Iterator[None]:
    """Turns what a statement raises into QueryError, and an interrupted one into Ctrl-C."""
    try:
        with _interrupts():
            yield
    except (sa.exc.SQLAlchemyError, duckdb.Error, OSError, UnicodeEncodeError) as error:
        reason = _one_line(error)
        if isinstance(getattr(error, "orig", error), duckdb.PermissionException):
            reason = f"only relations can be read ({reason}): {_REMEDY}"
        raise QueryError(reason) from error


@contextmanager
def _interrupts() -> Iterator[None]:
    """Turns what DuckDB makes of a Ctrl-C into one.

    It polls for signals while it works, and reports one as RuntimeError, its cause the
    KeyboardInterrupt, or as an error of its own that names it.
    """
    try:
        yield
    except (RuntimeError, duckdb.Error) as error:
        named = str(error).startswith("KeyboardInterrupt")
        if named or isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


def _one_line(error: object) -> str:
    """DuckDB's message without the excerpt of the statement below it."""
    message = str(getattr(error, "orig", None) or error)
    lines = message.split("\nLINE ")[0].splitlines()
    return " ".join(line.strip() for line in lines if line.strip())
