"""A tiny trace, a query, a CSV: tests/sql/<trace of tiny_traces.py>/<what>.sql and .csv."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.files.tiny_traces import TRACES, load_checked, write_trace

FOLDER = Path(__file__).parent
QUERIES = sorted(FOLDER.glob("*/*.sql"))


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    root = tmp_path_factory.mktemp("sql")
    opened = {name: load_checked(write_trace(name, root / name)) for name in TRACES}
    yield opened
    for trace in opened.values():
        trace.close()


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_query(query, traces):
    table = traces[query.parent.name].sql(query.read_text())
    assert table.to_csv() == query.with_suffix(".csv").read_text()


def test_every_trace_is_asked_and_every_query_has_an_answer():
    assert {path.parent.name for path in QUERIES} == set(TRACES)
    assert {path.with_suffix("") for path in FOLDER.glob("*/*.csv")} == {
        path.with_suffix("") for path in QUERIES
    }
