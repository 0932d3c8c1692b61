"""Names of relations and columns: no statement has to quote them."""

from __future__ import annotations

import duckdb
from support.files.tiny_traces import write_trace

from rlscope.opening import load
from rlscope.relations.schema import store

# Reserved words of PostgreSQL 16, those that may be a function or type among them: "SQL Key Words",
# appendix C of its manual.
POSTGRESQL = """
all analyse analyze and any array as asc asymmetric authorization binary both case cast check
collate collation column concurrently constraint create cross current_catalog current_date
current_role current_schema current_time current_timestamp current_user default deferrable desc
distinct do else end except false fetch for foreign freeze from full grant group having ilike in
initially inner intersect into is isnull join lateral leading left like limit localtime
localtimestamp natural not notnull null offset on only or order outer overlaps placing primary
references returning right select session_user similar some symmetric system_user table tablesample
then to trailing true union unique user using variadic verbose when where window with
"""


def test_no_name_of_the_schema_is_a_reserved_word():
    words = duckdb.sql("SELECT keyword_name, keyword_category FROM duckdb_keywords()").fetchall()
    reserved = {word for word, kind in words if kind in ("reserved", "type_function")}
    assert "window" in reserved
    for name, relation in store.relations().items():
        names = {name, *relation.columns.keys()}
        assert not names & (reserved | set(POSTGRESQL.split())), name


def test_every_name_of_the_schema_stands_without_quotes(tmp_path):
    with load(write_trace("workers", tmp_path / "run")) as trace:
        for name, relation in store.relations().items():
            trace.sql(f"SELECT {', '.join(relation.columns.keys())} FROM {name}")
