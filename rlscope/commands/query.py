"""`rlscope query DIR "SELECT ..."`: asks a trace anything, in SQL."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rlscope.errors import QueryError, RlscopeError
from rlscope.loading import load_shown
from rlscope.visible import visible_lines

if TYPE_CHECKING:
    from rlscope.load import Trace
    from rlscope.table import Table

_DESCRIPTION = """\
Runs one SQL statement (DuckDB's dialect) over the relations of a trace. Times are nanoseconds;
--schema lists relations and columns with their meaning. The statement reads the relations and
nothing else: no file, no network, no extension."""

_EXAMPLES = """\
examples:
  rlscope query runs/ppo --schema
      every relation, one line each
  rlscope query runs/ppo --schema breakdown
      its columns, with their meaning
  rlscope query runs/ppo "SELECT operation, layer, sum(duration_ns) AS ns
                          FROM breakdown GROUP BY ALL ORDER BY ns DESC"
  rlscope query runs/ppo "SELECT source, quantile_cont(duration_ns, 0.95) AS p95_ns
                          FROM iteration WHERE complete GROUP BY source"
      explicit: the program's own iterations; automatic: those that rlscope found
  rlscope query runs/ppo "FROM operation_instance" --format csv -o instances.csv
  rlscope query runs/ppo "FROM event" -o events.parquet
      every recorded interval; made when first asked for
  rlscope query runs/ppo --unrestricted "COPY (FROM iteration) TO 'iterations.csv'"
"""

_FORMATS = ("table", "csv", "json", "parquet")


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("directory", metavar="DIR", help="trace directory")
    parser.add_argument("statement", metavar="SQL", nargs="?", help="the statement; - reads stdin")
    parser.add_argument(
        "--schema",
        metavar="RELATION",
        nargs="?",
        const="",
        help="print the meaning of the relations, or of the columns of one",
    )
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        help="default: by the ending of FILE's name, else table",
    )
    parser.add_argument(
        "--unrestricted",
        action="store_true",
        help="run any statement: read and write files, install extensions",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Answers one statement, or describes the relations."""
    if (options.statement is None) == (options.schema is None):
        parser.error("give either an SQL statement or --schema")
    if options.schema is not None:
        print(_schema(options.schema), end="")
        return 0
    form = options.format or _format_of(options.output)
    if form == "parquet" and options.output is None:
        parser.error("--format parquet needs -o FILE")
    statement = _read_stdin() if options.statement == "-" else options.statement
    with load_shown(options.directory, unrestricted=options.unrestricted) as trace:
        _answer(trace, statement, form, options.output)
    return 0


def _read_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise QueryError(f"the statement on stdin is not text: {error}") from error


def _answer(trace: Trace, statement: str, form: str, output: str | None) -> None:
    if form == "parquet":
        _write_parquet(trace, statement, str(output))
    else:
        _write_text(_text(trace.sql(statement), form), output)


def _write_parquet(trace: Trace, statement: str, output: str) -> None:
    if not os.path.isdir(os.path.dirname(output) or "."):
        raise RlscopeError(f"cannot write {output}: no such directory")
    if os.path.isdir(output or "."):
        raise RlscopeError(f"cannot write {output or '.'}: it is a directory")
    trace.write_parquet(statement, output)


def _write_text(text: str, output: str | None) -> None:
    if output is None:
        # A terminal obeys control characters, a file keeps them.
        sys.stdout.write(visible_lines(text) if sys.stdout.isatty() else text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RlscopeError(f"cannot write {output}: {error.strerror}") from error


def _text(table: Table, form: str) -> str:
    if form == "csv":
        return table.to_csv()
    if form == "json":
        return table.to_json()
    return f"{table!r}\n" if table.names else ""


def _format_of(output: str | None) -> str:
    suffix = Path(output).suffix[1:].lower() if output else ""
    return suffix if suffix in _FORMATS else "table"


def _schema(relation: str) -> str:
    """Relations, or the columns of one, with their meaning."""
    from rlscope.trace import store

    known = store.relations()
    if not relation:
        return _listed([(name, "", str(table.comment)) for name, table in known.items()])
    if relation not in known:
        raise QueryError(f"no relation {relation!r}; there are: {', '.join(known)}")
    columns = known[relation].columns
    lines = [(column.name, store.type_name(column.type), str(column.comment)) for column in columns]
    return f"{relation}: {known[relation].comment}\n\n{_listed(lines)}"


def _listed(lines: list[tuple[str, str, str]]) -> str:
    first, second = (max(len(line[position]) for line in lines) for position in (0, 1))
    return "".join(
        f"  {name:{first}}  {type_:{second}}{'  ' if second else ''}{meaning}\n"
        for name, type_, meaning in lines
    )
