"""Several runs behind one SQL."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.files.tiny_traces import TRACES, write_trace

import rlscope as rls
from rlscope.errors import QueryError, TraceError
from rlscope.opening import Trace, load, load_many
from rlscope.relations.files.lock import Lock


@pytest.fixture
def roots(tmp_path: Path) -> list[Path]:
    """Every tiny trace, as runs of one machine; the tables of the last cannot be kept."""
    found = []
    for number, name in enumerate(sorted(TRACES)):
        root = write_trace(name, tmp_path / "runs" / name)
        run = {"format": "rlscope", "name": name, "start_ns": number, "host": {"boot_id": "b"}}
        (root / "run.json").write_text(json.dumps(run))
        found.append(root)
    (found[-1] / "tables").write_text("a file where the folder should be")
    return found


def test_every_relation_is_those_of_the_runs(roots):
    alone: dict[str, list[tuple[object, ...]]] = {}
    for number, root in enumerate(roots):
        with load(root) as trace:
            for relation in trace.relations:
                table = trace.table(relation)
                rows = table.select(*(name for name in table.names if name != "run_id"))
                extra = (str(root),) if relation == "run" else ()
                alone.setdefault(relation, []).extend((f"b-{number}", *row, *extra) for row in rows)
    with load_many(roots) as runs:
        for relation, rows in alone.items():
            table = runs.table(relation)
            assert sorted(table, key=repr) == sorted(rows, key=repr), relation
            assert table.descriptions.keys() == set(table.names)


def test_a_folder_stands_for_the_runs_below_it(roots):
    with rls.load_many(roots[0].parent) as runs:
        assert [*runs.paths] == roots
        assert len(runs) == len(roots)
        assert [*runs.sql("SELECT directory FROM run ORDER BY 1")["directory"]] == [
            *map(str, roots)
        ]
        for trace in runs:
            with trace:
                assert isinstance(trace, Trace)


def test_tables_that_are_there_are_not_made_again(roots):
    for root in roots:
        load(root).close()
    opened: list[Path] = []

    def open_trace(path: Path) -> Trace:
        opened.append(path)
        return load(path)

    with load_many(roots, open_trace=open_trace) as runs:
        assert opened == roots[-1:]
        assert len(runs.sql("FROM run")) == len(roots)
        # One with `event` made before is not opened for it either.
        assert len(runs.sql("SELECT DISTINCT run_id FROM event")) == len(roots)
    opened.clear()
    with load_many(roots[:-1], open_trace=open_trace) as runs:
        assert len(runs.sql("SELECT DISTINCT run_id FROM event")) == len(roots) - 1
    assert opened == []


def test_nobody_writes_the_files_while_they_are_open(roots):
    lock = Lock(roots[0])
    with load_many(roots):
        assert not lock.own()
    assert lock.own()
    lock.release()


def test_a_statement_reads_relations_and_nothing_else(roots, tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (tmp_path / "runs" / "secret.csv").write_text("a\n1\n")
    with load_many(roots) as runs:
        for statement in (
            f"FROM '{tmp_path / 'secret.csv'}'",
            f"FROM read_csv('{tmp_path / 'runs/secret.csv'}')",
            f"FROM read_text('{roots[0] / 'run.json'}')",
            f"COPY (SELECT 1) TO '{roots[0] / 'tables/event/mine.parquet'}'",
            f"COPY run TO '{tmp_path / 'written.csv'}'",
            "ATTACH ':memory:' AS mine",
            "INSTALL httpfs",
            "SET allowed_directories = ['/']",
            "UPDATE runs.run SET directory = ''",
        ):
            for ask in (runs.sql, lambda text: runs.first_rows(text, 1)):
                with pytest.raises(QueryError, match="unrestricted"):
                    ask(statement)
        assert len(runs.sql("FROM event"))
    with load_many(roots, unrestricted=True) as runs:
        assert runs.sql(f"FROM '{tmp_path / 'secret.csv'}'")["a"] == (1,)


def test_what_is_no_set_of_runs(roots, tmp_path):
    with pytest.raises(TraceError, match="no trace directory is named"):
        load_many([])
    with pytest.raises(TraceError, match=f"both are traces of one run.*{roots[0]}"):
        load_many([roots[0], roots[1], roots[0]])
    (tmp_path / "empty").mkdir()
    with pytest.raises(TraceError, match="no trace directory at or below"):
        load_many(tmp_path / "empty")
    with pytest.raises(TraceError, match="cannot read"):
        load_many(tmp_path / "missing")
    with pytest.raises(TraceError, match=str(tmp_path / "empty")):
        load_many([roots[0], tmp_path / "empty"])


@pytest.mark.parametrize("most", [0, 1, 12, 13])
def test_the_first_rows_are_those_of_the_whole_answer(roots, most):
    statement = "FROM breakdown ORDER BY ALL"
    with load_many(roots) as runs:
        whole = runs.sql(statement)
        table, count = runs.first_rows(statement, most)
        assert (table.names, count) == (whole.names, len(whole))
        assert [*table] == [*whole][:most]


def test_events_that_cannot_be_kept_are_there_all_the_same(roots):
    with load_many(roots[:2]) as runs:
        events = [*runs.table("event")]
    for root in roots[:2]:
        shutil.rmtree(root / "tables")
        load(root).close()
        (root / "tables/event").write_text("a file where the folder should be")
    with load_many(roots[:2]) as runs:
        assert sorted(runs.table("event"), key=repr) == sorted(events, key=repr)
        assert events
