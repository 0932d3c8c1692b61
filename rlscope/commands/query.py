"""`rlscope query DIR "SELECT ..."`: answers questions about one trace or several, in SQL."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlscope.errors import QueryError, RlscopeError
from rlscope.terminal.shown_opening import load_many_shown, load_shown
from rlscope.visible import visible_lines

if TYPE_CHECKING:
    from rlscope.relations.queries import Queries
    from rlscope.table import Table

_DESCRIPTION = """\
Runs SQL statements (DuckDB's dialect) over the relations of a trace. Times are in nanoseconds.
--schema explains the relations and their columns. A statement reads the relations only: no file, no
network, no extension. If you give no statement, a prompt asks for them.

If you give several trace directories, one statement reads all of them. Then every relation begins
with a column run_id, and relation run has a row for each directory."""

_EXAMPLES = """\
examples:
  rlscope query runs/ppo --schema
      lists every relation on one line
  rlscope query runs/ppo --schema breakdown
      explains the columns of breakdown
  rlscope query runs/ppo "SELECT operation, layer, sum(duration_ns) AS ns
                          FROM training_loop GROUP BY ALL ORDER BY ns DESC"
      where the time of the training loop goes, as the report has it
  rlscope query runs/ppo "SELECT source, quantile_cont(duration_ns, 0.95) AS p95_ns
                          FROM iteration WHERE complete GROUP BY source"
      explicit: iterations that the program counts; automatic: those that rlscope found
  rlscope query runs/ppo
      opens a prompt for statements; .help lists what else it takes
  rlscope query runs/ppo --file questions.sql
  rlscope query runs/seed-* "SELECT name, sum(duration_ns) / 1e9 AS seconds
                             FROM training_loop JOIN run USING (run_id)
                             WHERE operation = 'inference' GROUP BY ALL ORDER BY ALL"
  rlscope query runs/ppo "FROM operation_instance" --format csv -o instances.csv
  rlscope query runs/ppo "FROM event" -o events.parquet
      writes every recorded interval; the first such question takes longer
  rlscope query runs/ppo --unrestricted "COPY (FROM iteration) TO 'iterations.csv'"
"""

_FORMATS = ("table", "csv", "json", "parquet")
_SEPARATOR = "\n"
_SHOWN_ROWS = 40  # on a terminal, where a screen has about as many


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.usage = "rlscope query DIR [DIR ...] [SQL] [options]"
    parser.add_argument(
        "words",
        metavar="DIR ... SQL",
        nargs="+",
        help="trace directories, then the statement. - reads the statement from stdin",
    )
    parser.add_argument("--file", metavar="FILE", help="run the statements of this file, in order")
    parser.add_argument(
        "--schema",
        metavar="RELATION",
        nargs="?",
        const="",
        help="explain the relations, or the columns of one of them",
    )
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        help="print in this format (default: the one that the ending of FILE names, else table)",
    )
    parser.add_argument(
        "--limit",
        metavar="ROWS",
        type=int,
        help=f"print at most ROWS rows; 0: all (default: {_SHOWN_ROWS} on a terminal, else all)",
    )
    parser.add_argument(
        "--unrestricted",
        action="store_true",
        help="run any statement, also one that reads or writes files, or installs extensions",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file, not to stdout")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Answers statements, describes the relations, or shows the prompt."""
    directories, statement = _told_apart(options.words)
    if len(directories) > 1 and not os.path.isdir(directories[0]):
        parser.error(f'the directory comes first: rlscope query {directories[-1]} "SELECT ..."')
    if [statement, options.schema, options.file].count(None) < 2:
        parser.error("give only one of an SQL statement, --file and --schema")
    if options.limit is not None and options.limit < 0:
        parser.error("--limit takes a number of rows, or 0 for all")
    if options.schema is not None:
        print(_schema(options.schema, several=len(directories) > 1), end="")
        return 0
    form = options.format or _format_of(options.output)
    if form == "parquet" and options.output is None:
        parser.error("--format parquet needs -o FILE")
    asks = statement is None and options.file is None
    if asks and not (sys.stdin.isatty() and options.output is None):
        parser.error("give an SQL statement, --file or --schema: the prompt needs a terminal")
    text = "" if asks else _read(statement, options.file)
    with _load(directories, options.unrestricted) as trace:
        if asks:
            from rlscope.terminal.query_prompt import Prompt

            Prompt(
                lambda each: _show(trace, each, form, options.limit),
                lambda relation: _schema(relation, several=len(directories) > 1),
                trace.relations,
            ).run()
        else:
            _answer(trace, text, form, options)
    return 0


def _told_apart(words: Sequence[str]) -> tuple[list[str], str | None]:
    """The directories, and the statement after them if there is one."""
    if len(words) > 1 and not os.path.isdir(words[-1]):
        return [*words[:-1]], words[-1]
    return [*words], None


def _load(directories: list[str], unrestricted: bool) -> Queries:
    if len(directories) > 1:
        return load_many_shown(directories, unrestricted=unrestricted)
    return load_shown(directories[0], unrestricted=unrestricted)


def _read(statement: str | None, file: str | None) -> str:
    try:
        if file is not None and file != "-":
            return Path(file).read_text(encoding="utf-8")
        return str(statement) if statement not in (None, "-") else sys.stdin.read()
    except OSError as error:
        raise QueryError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise QueryError(f"{file or 'the statement on stdin'} is not text: {error}") from error


def _answer(trace: Queries, text: str, form: str, options: argparse.Namespace) -> None:
    from rlscope.relations import statements

    split = statements.split(text)
    if not split:
        raise QueryError('the statement is empty: give one such as "FROM training_loop"')
    if len(split) > 1 and form != "table":
        raise QueryError(f"{form} takes the rows of one statement, not of {len(split)}")
    if form == "parquet":
        _write_parquet(trace, text, str(options.output))
    elif options.output is not None:
        shown = [_text(_rows(trace, each, options.limit or 0)[0], form) for each in split]
        _write(_SEPARATOR.join(filter(None, shown)), options.output)
    else:
        for number, each in enumerate(split):
            if number:
                print()
            _show(trace, each, form, options.limit)


def _rows(trace: Queries, statement: str, limit: int) -> tuple[Table, int]:
    """Rows of the answer, and how many it has."""
    if limit:
        return trace.first_rows(statement, limit)
    table = trace.sql(statement)
    return table, len(table)


def _show(trace: Queries, statement: str, form: str, limit: int | None) -> None:
    """Prints an answer; a terminal also gets the number of its rows, and not all of very many."""
    terminal = sys.stdout.isatty()
    if limit is None:
        limit = _SHOWN_ROWS if terminal else 0
    table, count = _rows(trace, statement, limit)
    text = _text(table, form)
    # A terminal obeys control characters, a file keeps them.
    sys.stdout.write(visible_lines(text) if terminal else text)
    said = "1 row" if count == 1 else f"{count:,} rows"
    if count > len(table):
        said = f"{said}; these are the first {len(table):,}, and --limit 0 shows all"
    elif not terminal or form != "table" or not table.names:
        return
    sys.stdout.flush()
    print(f"({said})", file=sys.stdout if terminal and form == "table" else sys.stderr)


def _write_parquet(trace: Queries, statement: str, output: str) -> None:
    if not os.path.isdir(os.path.dirname(output) or "."):
        raise RlscopeError(f"cannot write {output}: no such directory")
    if os.path.isdir(output or "."):
        raise RlscopeError(f"cannot write {output or '.'}: it is a directory")
    trace.write_parquet(statement, output)


def _write(text: str, output: str) -> None:
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RlscopeError(f"cannot write {output}: {error.strerror}") from error


def _text(table: Table, form: str) -> str:
    if form == "csv":
        return table.to_csv()
    if form == "json":
        return table.to_json()
    return f"{table.to_text()}\n" if table.names else ""


def _format_of(output: str | None) -> str:
    suffix = Path(output).suffix[1:].lower() if output else ""
    return suffix if suffix in _FORMATS else "table"


def _schema(relation: str, *, several: bool = False) -> str:
    """Relations, or the columns of one, with their meaning."""
    from rlscope.relations.schema import store

    known = store.relations_of_runs() if several else store.relations()
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
