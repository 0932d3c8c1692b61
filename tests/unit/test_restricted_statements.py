"""What a statement may do: it reads relations and nothing else, unless the user allows more."""

from __future__ import annotations

import duckdb
import pytest
from support.files.tiny_traces import write_trace

from rlscope.errors import QueryError
from rlscope.opening import load


@pytest.fixture
def root(tmp_path):
    return write_trace("workers", tmp_path / "run")


def forbidden(tmp_path):
    """Statements that reach outside of the relations; what they would write is in tmp_path."""
    other = tmp_path / "other.parquet"
    return {
        "a file": "SELECT * FROM read_text('/etc/passwd')",
        "another table": f"FROM '{other}'",
        "a folder": "SELECT * FROM glob('/etc/*')",
        "a table of text": "SELECT * FROM read_csv('/etc/passwd')",
        "a table of objects": f"SELECT * FROM read_json('{other}')",
        "another table by function": f"SELECT * FROM read_parquet('{other}')",
        "the columns of a file": f"SELECT * FROM parquet_schema('{other}')",
        "a guess at a file": "SELECT * FROM sniff_csv('/etc/passwd')",
        "bytes": "SELECT * FROM read_blob('/proc/self/environ')",
        "a file, described": f"DESCRIBE FROM '{other}'",
        "a file, deep inside": f"WITH a AS (SELECT (SELECT count(*) FROM '{other}')) FROM a",
        "an address": "FROM 'http://127.0.0.1:9/x.csv'",
        "an export": f"COPY (SELECT 1) TO '{tmp_path / 'written.csv'}'",
        "a whole export": f"EXPORT DATABASE '{tmp_path / 'written'}'",
        "an import": f"IMPORT DATABASE '{tmp_path}'",
        "a file into a table": "COPY process FROM '/etc/passwd'",
        "another database": f"ATTACH '{tmp_path / 'written.db'}'",
        "an extension": "INSTALL httpfs",
        "an installed extension": "LOAD httpfs",
        "a setting": "SET enable_external_access = true",
        "a setting by PRAGMA": "PRAGMA enable_external_access = true",
        "a setting back": "RESET enable_external_access",
        "a folder of files": "SET allowed_directories = ['/']",
        "a folder of extensions": "SET extension_directory = '/tmp'",
        "a secret": "CREATE SECRET (TYPE s3)",
        "a macro": "CREATE MACRO f() AS 1",
        "a prepared one": f"PREPARE p AS COPY (SELECT 1) TO '{tmp_path / 'written.csv'}'",
        "a call": "CALL pragma_version()",
        "a checkpoint": "CHECKPOINT",
        "a row": "INSERT INTO process SELECT * FROM process",
        "no row": "DELETE FROM process",
        "a table": "CREATE TABLE mine AS SELECT 1",
        "a relation": "DROP VIEW breakdown",
        "a later statement": f"SELECT 1; COPY (SELECT 1) TO '{tmp_path / 'written.csv'}'",
        "an explained one": f"EXPLAIN ANALYZE COPY (SELECT 1) TO '{tmp_path / 'written.csv'}'",
    }


@pytest.fixture(params=["files", "memory"])
def kept(request, root):
    """A trace whose tables lie in files, or could only be kept in memory."""
    if request.param == "memory":
        (root / "tables").write_text("a file where the folder should be")
    return root


def test_a_statement_reads_relations_and_nothing_else(kept, tmp_path):
    duckdb.sql("SELECT 1 AS a").write_parquet(str(tmp_path / "other.parquet"))
    with load(kept) as trace:
        assert len(trace.sql("FROM breakdown"))
        for what, statement in forbidden(tmp_path).items():
            for ask in (
                trace.sql,
                lambda text: trace.first_rows(text, 1),
                lambda text: trace.cut_rows(text, 1, characters=9, seconds=60),
                lambda text: trace.write_parquet(text, tmp_path / "x.parquet"),
            ):
                with pytest.raises(QueryError, match="unrestricted") as caught:
                    ask(statement)
                assert "\n" not in str(caught.value), what
        assert len(trace.table("event"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.parquet", "run"]


@pytest.mark.parametrize(
    "statement",
    [
        "EXPLAIN FROM breakdown",
        "explain analyze SELECT count(*) FROM breakdown",
        "EXPLAIN (FORMAT json) FROM breakdown",
        "EXPLAIN (SELECT 1)",
        "EXPLAIN WITH a AS (FROM breakdown) FROM a",
    ],
)
def test_what_reads_can_be_explained(root, statement):
    with load(root) as trace:
        (row,) = trace.sql(statement)
        assert row[0] in ("physical_plan", "analyzed_plan")
        assert trace.first_rows(statement, 1)[1] == 1


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("INSTALL httpfs", "INSTALL"),
        ("-- COPY\n /* LOAD * */ install httpfs", "INSTALL"),
        ("LOAD httpfs", "LOAD"),
        ("USE other", "USE"),
        ("CHECKPOINT", "CHECKPOINT"),
        ("FORCE INSTALL httpfs", "FORCE"),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO '{0}'", "EXPLAIN"),
        ("EXPLAIN (ANALYZE) COPY (SELECT 1) TO '{0}'", "EXPLAIN"),
        ("EXPLAIN ANALYZE /* /* */ SELECT 1 -- */\n COPY (SELECT 1) TO '{0}'", "EXPLAIN"),
        ("EXPLAIN SELECT 1; COPY (SELECT 1) TO '{0}'", "COPY"),
    ],
)
def test_a_statement_that_is_not_run_is_named_by_its_own_word(root, tmp_path, statement, word):
    file = tmp_path / "written.csv"
    with load(root) as trace, pytest.raises(QueryError, match=f"^{word} is not run, "):
        trace.sql(statement.format(file))
    assert not file.exists()


def test_no_statement_writes_the_files_of_the_relations(root):
    with load(root) as trace:
        part = root / "tables" / "process" / "part.parquet"
        before = part.read_bytes()
        with pytest.raises(QueryError, match="COPY is not run"):
            trace.sql(f"COPY (SELECT 1) TO '{part}' (USE_TMP_FILE false)")
        with trace.engine.connect() as connection, pytest.raises(QueryError):
            connection.exec_driver_sql(f"COPY (SELECT 1) TO '{part}' (USE_TMP_FILE false)")
        assert part.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "FROM breakdown",
        "WITH a AS (SELECT 1 AS b) SELECT * FROM a",
        "SELECT 1; SELECT 2 AS n",
        "DESCRIBE breakdown",
        "SUMMARIZE breakdown",
        "SHOW TABLES",
        "PIVOT breakdown ON layer USING sum(duration_ns) GROUP BY operation",
        "SELECT now()::TIMESTAMPTZ, json_extract('[1]', '$[0]')",
        "SELECT count(*) FROM (SELECT range FROM range(3000000) ORDER BY hash(range))",
    ],
)
def test_what_reads_is_run(kept, statement):
    with load(kept) as trace:
        assert len(trace.sql(statement))


def test_an_unrestricted_trace_runs_anything(root, tmp_path):
    with load(root, unrestricted=True) as trace:
        trace.sql(f"COPY (SELECT 7 AS n) TO '{tmp_path / 'written.parquet'}'")
        assert trace.sql(f"FROM '{tmp_path / 'written.parquet'}'")["n"] == (7,)


def test_a_restricted_trace_still_writes_what_was_asked_for(kept, tmp_path):
    output = tmp_path / "odd 'name\".parquet"
    with load(kept) as trace:
        trace.write_parquet("SELECT count(*) AS n FROM breakdown", output)
        trace.write_parquet("SELECT count(*) AS n FROM event", output)
    assert duckdb.sql("SELECT n FROM read_parquet($1)", params=[str(output)]).fetchall() == [(7,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [output.name, "run"]


@pytest.mark.parametrize("write", ["write_parquet", "write_csv"])
def test_a_statement_with_variables_is_written(kept, tmp_path, write):
    """query_table() is given the name of a relation, which may have to be made first."""
    output, expected = tmp_path / "some", tmp_path / "expected"
    statement = (
        "FROM query_table(getvariable('relation')) WHERE duration_ns > getvariable('least_ns')"
    )
    variables = {"relation": "event", "least_ns": 1, 'odd "name': "it's"}
    with load(kept) as trace:
        getattr(trace, write)(statement, output, variables)
        getattr(trace, write)("FROM event WHERE duration_ns > 1", expected)
        # They are gone when the file is there.
        assert trace.sql("SELECT getvariable('relation') AS relation")["relation"] == (None,)
    if write == "write_parquet":
        read = duckdb.read_parquet
        assert len(rows := read(str(output)).fetchall()) > 0
        assert rows == read(str(expected)).fetchall()
    else:
        assert output.read_bytes() == expected.read_bytes()
