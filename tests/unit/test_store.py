"""The relations of a trace: kept in DIR/tables, made again when out of date, shared by readers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from support.files.tiny_traces import load_checked, write_trace

from rlscope.errors import QueryError, TraceError
from rlscope.opening import load
from rlscope.relations import database
from rlscope.relations.files.manifest import MANIFEST
from rlscope.relations.schema import store

# Relations and columns that queries of users may rely on.
CONTRACT = {
    "run": "run_id command name start_ns end_ns version",
    "host": "host_id name boot_id cpu cores clock tsc_hz",
    "absent": "relation column_name reason",
    "process": "process_id parent_process_id host_id os_pid name program python start_ns end_ns"
    " exit cpu_ns profiler_cpu_ns exit_flush_ns",
    "thread": "thread_id process_id os_tid name is_python start_ns end_ns",
    "recording_window": "process_id start_ns duration_ns",
    "phase": "process_id name start_ns duration_ns",
    "iteration": "process_id iteration start_ns duration_ns complete source",
    "operation": "operation_id parent_operation_id name path depth source",
    "operation_instance": "process_id thread_id operation_id iteration start_ns duration_ns"
    " self_ns ended",
    "breakdown": "process_id stage phase operation layer gpu_busy duration_ns overhead_ns"
    " corrected_ns corrected_low_ns corrected_high_ns count",
    "training_loop": "process_id stage phase operation source layer gpu_busy duration_ns count",
    "breakdown_by_thread": "process_id thread_id phase operation layer gpu_busy duration_ns"
    " overhead_ns corrected_ns corrected_low_ns corrected_high_ns count",
    "iteration_breakdown": "process_id iteration iteration_source complete operation layer"
    " gpu_busy duration_ns",
    "timeline": "process_id level start_ns bucket_ns operation layer gpu_busy duration_ns",
    "transition": "process_id operation from_layer to_layer count per_iteration",
    "native_call": "process_id function layer operation calls duration_ns self_ns",
    "wait": "process_id stage thread_id kind object function operation peer_process_id count"
    " duration_ns self_ns",
    "blocked": "process_id stage operation layer duration_ns readings blocked blocked_ns"
    " blocked_low_ns blocked_high_ns",
    "stack": "process_id stack_id parent_id function file line first_line is_own",
    "stack_time": "process_id stack_id stage operation layer readings self_ns self_low_ns"
    " self_high_ns",
    "source_line": "process_id file line function is_own stage operation layer readings self_ns"
    " own_ns own_low_ns own_high_ns total_ns",
    "source_text": "file line text",
    "wait_peer": "process_id kind object function peer_process_id",
    "backward_line": "process_id file line function backward_file backward_line stage backward_ns"
    " backwards watched watched_ns nodes part_ns",
    "compilation": "process_id compiler function file line count total_ns",
    "api_call": "process_id name operation calls duration_ns errors",
    "kernel": "process_id device stream name operation count duration_ns min_ns max_ns",
    "graph": "process_id device stream graph operation count duration_ns min_ns max_ns",
    "memcpy": "process_id device stream direction memory operation count bytes duration_ns",
    "memset": "process_id device stream memory operation count bytes duration_ns",
    "sync": "process_id kind operation count duration_ns waiting_ns",
    "gpu_time": "process_id device gpu operation while_ns launched_ns",
    "gpu_device": "host_id gpu processes busy_ns processes_ns",
    "gpu_timeline": "host_id gpu start_ns bucket_ns busy_ns",
    "overhead": "process_id operation layer gpu_busy kind count overhead_ns",
    "machine_sample": "host_id process_id start_ns metric value",
    "utilisation": "host_id kind gpu core process_id start_ns end_ns duration_ns readings"
    " polled_percent busy_ns cuda_api_ns waiting_ns cpu_ns",
    "calibration": "calibration_id kind api mean_ns low_ns high_ns samples method",
    "loss": "process_id kind count duration_ns detail",
    "progress": "process_id start_ns done total",
    "metadata": "process_id key value",
    "event": "process_id thread_id kind layer name start_ns duration_ns",
}


@pytest.fixture
def root(tmp_path):
    return write_trace("workers", tmp_path / "run")


def all_rows(trace):
    """But for the findings, which thirty statements make of the others."""
    return {name: trace.table(name) for name in store.relations() if name != "finding"}


def stamps(root):
    """What would change if a table were written again."""
    parts = sorted((root / "tables").rglob("*.parquet"))
    return {str(part): (part.stat().st_ino, part.stat().st_mtime_ns) for part in parts}


def make_newer(root):
    """As if the drainer had written once more."""
    log = root / "processes.log"
    os.utime(log, ns=(log.stat().st_atime_ns, log.stat().st_mtime_ns + 1))


def test_the_schema_keeps_the_contract_and_every_column_is_described():
    relations = store.relations()
    for name, columns in CONTRACT.items():
        assert set(columns.split()) <= set(relations[name].columns.keys()), name
    for name, relation in relations.items():
        assert relation.comment and all(column.comment for column in relation.columns), name


def test_every_relation_can_be_queried_with_the_columns_and_types_of_the_schema(root):
    with load_checked(root) as trace:
        for name, relation in store.relations().items():
            described = trace.sql(f'DESCRIBE SELECT * FROM "{name}"')
            expected = [
                (column.name, store.type_name(column.type).replace("TEXT", "VARCHAR"))
                for column in relation.columns
            ]
            assert list(described.select("column_name", "column_type")) == expected, name


def test_a_second_open_reads_what_the_first_one_made(root):
    with load_checked(root) as first:
        rows = all_rows(first)
    made = stamps(root)
    with load_checked(root) as second:
        assert not second.in_memory
        assert all_rows(second) == rows
    assert stamps(root) == made


@pytest.mark.parametrize(
    "damage",
    ["newer", "no manifest", "bad manifest", "other version", "missing file", "damaged file"],
)
def test_tables_out_of_date_are_made_again(root, damage):
    with load(root) as trace:
        rows = all_rows(trace)
    made = stamps(root)
    manifest = root / "tables" / MANIFEST
    if damage == "newer":
        make_newer(root)
    elif damage == "no manifest":
        manifest.unlink()
    elif damage == "missing file":
        (root / "tables" / "timeline" / "part-0.parquet").unlink()
    elif damage == "damaged file":
        (root / "tables" / "process" / "part.parquet").write_bytes(b"no Parquet")
    elif damage == "bad manifest":
        manifest.write_text(manifest.read_text()[:-9])
    else:
        content = json.loads(manifest.read_text())
        content["made_from"]["tables_version"] = -1
        manifest.write_text(json.dumps(content))
    with load(root) as trace:
        assert not trace.in_memory
        assert all_rows(trace) == rows
    assert not set(made.values()) & set(stamps(root).values())


def test_what_a_killed_writer_left_does_no_harm(root):
    folder = root / "tables" / "breakdown" / "process_id=99"
    folder.mkdir(parents=True)
    (folder / "part.parquet").write_bytes(b"half a file")
    (folder / "part.4711.tmp").write_bytes(b"half a file")
    with load_checked(root) as trace:
        assert trace.sql("SELECT count(*) AS n FROM breakdown WHERE process_id = 99")["n"] == (0,)
    assert not folder.exists()


def test_other_peoples_files_among_the_tables_stay(root):
    with load(root):
        pass
    tables = root / "tables"
    notes = [tables / "breakdown" / "part.txt", tables / "timeline" / "notes.txt"]
    for file in notes:
        file.write_text("mine")
    (tables / "manifest.json").unlink()
    with load_checked(root) as trace:
        assert not trace.in_memory
        assert all_rows(trace)
    assert [file.read_text() for file in notes] == ["mine", "mine"]


def test_a_folder_that_cannot_be_written_gives_the_same_rows(root):
    with load(root) as trace:
        rows = all_rows(trace)
    shutil.rmtree(root / "tables")
    (root / "tables").write_text("a file where the folder should be")
    with load_checked(root) as trace:
        assert trace.in_memory
        assert all_rows(trace) == rows


def test_tables_in_use_are_not_written_and_both_readers_see_their_own(root):
    with load(root) as first:
        made = stamps(root)
        make_newer(root)
        with load_checked(root) as second:
            assert second.in_memory
            assert all_rows(second) == all_rows(first)
        later = stamps(root)
        assert {name: later[name] for name in made} == made
    with load(root) as third:
        assert not third.in_memory


def test_readers_that_open_at_once_all_see_everything(root):
    code = (
        "import sys; from support.files.tiny_traces import load_checked\n"
        "sys.stdin.readline()\n"
        f"with load_checked({str(root)!r}) as t:\n"
        "    print(len(t.table('breakdown')), len(t.table('event')))"
    )
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for _ in range(3)
    ]
    for reader in readers:
        reader.stdin.write("go\n")
        reader.stdin.flush()
    answers = {reader.communicate()[0] for reader in readers}
    with load_checked(root) as trace:
        assert answers == {f"{len(trace.table('breakdown'))} {len(trace.table('event'))}\n"}


def test_queries_may_come_from_any_thread(root):
    with load(root) as trace, ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: len(trace.table("event")), range(16)))
        assert counts == [len(trace.table("event"))] * 16


def kinds(trace, *relations):
    """Whether each is a view over its files, or a table in memory."""
    rows = dict(trace.sql("SELECT table_name, table_type FROM information_schema.tables"))
    return [rows[relation] for relation in relations]


def test_small_relations_are_in_memory_once_a_statement_names_them(root):
    with load(root) as trace:
        assert kinds(trace, "breakdown", "process") == ["VIEW", "VIEW"]
        trace.sql("SELECT * FROM Breakdown")
        assert kinds(trace, "breakdown", "process") == ["BASE TABLE", "VIEW"]
        held = all_rows(trace)
        assert kinds(trace, "breakdown", "process") == ["BASE TABLE", "BASE TABLE"]
    with load(root) as trace:
        trace._database._small.clear()
        assert all_rows(trace) == held
        assert kinds(trace, "breakdown", "process") == ["VIEW", "VIEW"]


def test_large_relations_stay_where_they_are(root, monkeypatch):
    load(root).close()
    sizes = [path.stat().st_size for path in (root / "tables").rglob("breakdown*.parquet")]
    monkeypatch.setattr(database, "_SMALL_BYTES", sum(sizes) - 1)
    with load(root) as trace:
        trace.sql("SELECT * FROM breakdown, wait")
        assert kinds(trace, "breakdown", "wait") == ["VIEW", "BASE TABLE"]


def test_relations_come_into_memory_while_other_threads_read_them(root):
    statements = [f"SELECT count(*) FROM {name}" for name in ("breakdown", "process", "thread")] * 8
    with load(root) as trace, ThreadPoolExecutor(8) as pool:
        found = [list(table) for table in pool.map(trace.sql, statements)]
        assert found == found[:3] * 8
        assert kinds(trace, "breakdown", "process", "thread") == ["BASE TABLE"] * 3


def test_events_are_made_when_first_asked_for_and_kept(root):
    with load(root) as trace:
        assert not (root / "tables" / "event").exists()
        rows = trace.table("event")
        assert len(rows) == 7
    made = stamps(root)
    with load(root) as trace:
        assert trace.table("event") == rows
    assert stamps(root) == made
    make_newer(root)
    with load(root) as trace:
        assert trace.table("event") == rows


def test_a_path_with_odd_characters_and_names_of_columns(tmp_path):
    folder = tmp_path / "lr=[0-9]*? 'a\"b" / "phase=2" / "process_id=7"
    folder.mkdir(parents=True)
    root = write_trace("trainer", folder / "run")
    with load_checked(root) as trace:
        rows = all_rows(trace)
    with load_checked(root) as trace:
        assert not trace.in_memory
        assert all_rows(trace) == rows
    assert set(rows["breakdown"]["process_id"]) == {0}
    assert set(rows["breakdown"]["phase"]) == {"(none)", "training"}


def test_sqlalchemy_core_reads_the_relations(root):
    breakdown = store.breakdown.c
    statement = (
        sa.select(breakdown.operation, sa.func.sum(breakdown.duration_ns).label("ns"))
        .where(breakdown.operation == sa.bindparam("path"))
        .group_by(breakdown.operation)
    )
    with load(root) as trace:
        with trace.engine.connect() as connection:
            rows = connection.execute(statement, {"path": "update"}).fetchall()
            assert rows == [("update", 8000)]
            names = sa.inspect(connection).get_view_names()
        assert {"breakdown", "process"} <= set(names)


def test_parameters_are_bound_and_not_pasted(root):
    with load(root) as trace:
        table = trace.sql("SELECT $text AS text, ':a %s' AS other", {"text": "'; DROP"})
    assert table.to_dicts() == [{"text": "'; DROP", "other": ":a %s"}]


def test_columns_of_one_name_stay_apart(root):
    with load(root) as trace:
        assert trace.sql("SELECT 1 AS a, 2 AS a").names == ("a", "a_1")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT nothing FROM breakdown", '"nothing" not found'),
        ("SELECT * FROM nothing", "Table with name nothing does not exist"),
        ("SELEC 1", "syntax error"),
        ("SELECT duration_ns::DATE FROM breakdown", "BIGINT -> DATE"),
        ("SELECT $a", "a"),
    ],
)
def test_a_bad_statement_is_one_line(root, statement, message):
    with load(root) as trace, pytest.raises(QueryError) as caught:
        trace.sql(statement)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_variables_of_python_are_no_relations(root):
    numbers = {"a": [1]}
    with load(root) as trace, pytest.raises(QueryError, match="numbers does not exist"):
        trace.sql("SELECT * FROM numbers")
    assert numbers


def test_an_unknown_relation_lists_the_known_ones(root):
    with load(root) as trace, pytest.raises(QueryError, match="there are: run, host"):
        trace.table("nothing")


def test_what_is_unknown_is_null_and_explained(root):
    with load(root) as trace:
        absent = {(row["relation"], row["column_name"]) for row in trace.table("absent").to_dicts()}
        for relation, column in absent:
            rows = trace.table(relation)
            assert (len(rows) == 0) if column == "*" else (None in rows[column])
        assert ("breakdown", "corrected_ns") in absent
        assert ("kernel", "*") in absent
        assert set(trace.table("breakdown")["corrected_ns"]) == {None}


def test_damage_is_a_loss_of_the_run(root):
    file = next((root / "trace").glob("*4243*"))
    file.write_bytes(file.read_bytes()[:-20])
    with load_checked(root) as trace:
        kinds = trace.sql("SELECT process_id, kind FROM loss WHERE kind = 'damaged_bytes'")
        assert kinds.to_dicts() == [{"process_id": None, "kind": "damaged_bytes"}]


def test_facts_of_the_run_and_samples_of_the_machine(root):
    with load(root) as trace:
        start_ns = trace.table("run")["start_ns"][0]
    run = {
        "command": ["python", "a b.py"],
        "name": "mine",
        "start_ns": start_ns - 5,
        "version": "1.2",
        "host": {"name": "host", "boot_id": "b00t", "cpu": "a CPU", "cores": 2},
        "options": {"iterations": 3},
    }
    (root / "run.json").write_text(json.dumps(run))
    samples = [
        {"time_ns": start_ns + 1, "pid": None, "metric": "cpu_percent", "value": 43.5},
        {"time_ns": start_ns + 4_000, "pid": 4243, "metric": "memory_bytes", "value": 5},
        {"time_ns": start_ns + 4_000, "pid": 999_999, "metric": "memory_bytes", "value": 6},
    ]
    lines = [json.dumps(sample) for sample in samples]
    (root / "machine.jsonl").write_text("\n".join([*lines, lines[0][:20]]))
    with load(root) as trace:
        facts = trace.table("run").to_dicts()[0]
        assert facts["run_id"] == f"b00t-{start_ns - 5}"
        assert (facts["command"], facts["name"]) == ("python 'a b.py'", "mine")
        assert json.loads(facts["options"]) == {"iterations": 3}
        assert trace.table("host").to_dicts()[0]["cores"] == 2
        assert trace.table("machine_sample").select("process_id", "metric", "value").to_dicts() == [
            {"process_id": None, "metric": "cpu_percent", "value": 43.5},
            {"process_id": 1, "metric": "memory_bytes", "value": 5.0},
        ]


def test_a_closed_trace_answers_no_more(root):
    trace = load(root)
    trace.close()
    trace.close()
    with pytest.raises(QueryError):
        trace.sql("SELECT * FROM breakdown")


def test_nothing_of_it_needs_pandas_or_pyarrow(root):
    code = (
        # None in sys.modules would do, but DuckDB before 1.5 takes the key for a loaded module.
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('pandas', 'pyarrow'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import rlscope as rls\n"
        f"with rls.load({str(root)!r}) as t:\n"
        "    print(len(t.table('event')), len(rls.analysis.breakdown(t, by=['layer'])))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("7 3\n", "")


def test_what_does_not_fit_into_memory_goes_to_the_temporary_folder(root, tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with load(root) as trace:
        (spill,) = trace.sql("SELECT current_setting('temp_directory') AS folder")["folder"]
        assert Path(spill).parent == Path(tempfile.gettempdir())
    assert list(folder.iterdir()) == []
    assert not Path(spill).exists()


@pytest.mark.parametrize("path", ["nothing here", "empty", "file"])
def test_what_is_no_trace_is_one_line(tmp_path, path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(TraceError) as caught:
        load(tmp_path / path)
    assert str(tmp_path / path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Path(tmp_path / "empty" / "tables").exists()
