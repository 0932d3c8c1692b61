"""SQLite exports of Nsight Systems, made by the documented schema, become traces."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.files import nsight_files
from support.files.nsight_files import SESSION_NS, a_run, global_tid, nvtx, on_gpu, write

from rlscope.errors import RlscopeError
from rlscope.importing import nsight_schema as schema
from rlscope.importing.directory import import_files
from rlscope.opening import load

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "import.md"


def import_tables(folder, tables, **options):
    file = write(folder / "report.sqlite", tables, **options)
    return import_files([str(file)], str(folder / "run"))


def events(folder, *kinds):
    """(kind, name, start since the session began, duration, operation) in order."""
    with load(folder / "run") as trace:
        table = trace.sql(
            """SELECT kind, event.name, start_ns - $begin, duration_ns, path
            FROM event LEFT JOIN operation USING (operation_id)
            WHERE list_contains($kinds, kind) ORDER BY start_ns, duration_ns DESC""",
            {"begin": SESSION_NS, "kinds": list(kinds)},
        )
        return [tuple(each) for each in table]


def test_tables_become_operations_calls_waits_and_work(tmp_path):
    imported = import_tables(tmp_path, a_run())
    assert events(tmp_path, "operation") == [
        ("operation", "step", 0, 100_000, "step"),
        ("operation", "step/forward", 5_000, 65_000, "step/forward"),
        ("operation", "step/range", 72_000, 18_000, "step/range"),
    ]
    assert events(tmp_path, "cuda_call", "kernel") == [
        ("cuda_call", "cudaLaunchKernel", 10_000, 5_000, "step/forward"),
        ("cuda_call", "cudaMemcpyAsync", 20_000, 2_000, "step/forward"),
        ("kernel", "gemm<float>(int)", 25_000, 20_000, "step/forward"),
        ("cuda_call", "cudaStreamSynchronize", 30_000, 30_000, "step/forward"),
    ]
    assert events(tmp_path, "wait") == [
        ("wait", "lock|pthread_cond_wait", 75_000, 10_000, "step/range")
    ]
    assert imported.taken() == {
        "CUPTI_ACTIVITY_KIND_RUNTIME": 3,
        "NVTX_EVENTS": 3,
        "OSRT_API": 1,
        "CUPTI_ACTIVITY_KIND_KERNEL": 1,
        "CUPTI_ACTIVITY_KIND_MEMCPY": 1,
        "CUPTI_ACTIVITY_KIND_MEMSET": 1,
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": 1,
    }
    assert imported.not_taken() == {
        "NVTX_EVENTS of type 34": 1,
        "NVTX_EVENTS without a time or an end": 1,
        "NVTX_EVENTS that end on another thread": 1,
        "OSRT_API of less than 5 us": 1,
        "OSRT_API that are no waits": 1,
    }


def test_the_relations_have_what_the_columns_say(tmp_path):
    import_tables(tmp_path, a_run())
    with load(tmp_path / "run") as trace:
        (process,) = trace.table("process").to_dicts()
        assert (process["os_pid"], process["start_ns"]) == (nsight_files.PID, SESSION_NS)
        assert process["end_ns"] - process["start_ns"] == 100_000
        ((total,),) = trace.sql("SELECT sum(duration_ns)::BIGINT FROM breakdown")
        assert total == 100_000
        copies = trace.sql("SELECT direction, memory, bytes, device, stream FROM memcpy")
        assert [tuple(each) for each in copies] == [("device_to_host", "pinned", 512, 0, 7)]
        sets = trace.sql("SELECT memory, bytes, operation FROM memset")
        assert [tuple(each) for each in sets] == [("device", 64, "(unlinked)")]
        (sync,) = trace.table("sync").to_dicts()
        assert (sync["kind"], sync["duration_ns"]) == ("stream", 30_000)
        layers = trace.sql("SELECT layer, sum(duration_ns)::BIGINT FROM breakdown GROUP BY ALL")
        found = dict(tuple(each) for each in layers)
        assert found == {"python": 53_000, "cuda_api": 37_000, "wait": 10_000}
        waits = trace.sql('SELECT kind, function, "count" FROM wait')
        assert [tuple(each) for each in waits] == [("lock", "pthread_cond_wait", 1)]
        (host,) = trace.table("host").to_dicts()
        assert host["name"] == "box"
        metadata = dict(trace.sql("SELECT key, value FROM metadata"))
        assert json.loads(metadata["devices"]) == ["NVIDIA H100"]
        assert json.loads(metadata["export_schema_version"]) == "3.16.1"


@pytest.mark.parametrize("missing", [table.name for table in schema.EVENT_TABLES])
def test_an_export_may_lack_any_table(tmp_path, missing):
    tables = {name: rows for name, rows in a_run().items() if name != missing}
    imported = import_tables(tmp_path, tables)
    assert missing not in imported.taken()
    assert len(imported.taken()) == 6 + (missing == "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")


OPTIONAL = [
    (table.name, column)
    for table in schema.EVENT_TABLES
    for column in table.columns
    if column not in ("start", "end") and table.name in a_run()
] + [(name, column) for name, (_, columns) in schema.OTHER_TABLES.items() for column in columns]


@pytest.mark.parametrize(("table", "column"), OPTIONAL)
def test_an_export_may_lack_any_column(tmp_path, table, column):
    imported = import_tables(tmp_path, a_run(), without=[f"{table}.{column}"])
    of_thread = column == "globalTid" and table != "ThreadNames"
    assert (table in imported.taken()) == (
        not of_thread
        and table not in schema.OTHER_TABLES
        and (table, column) != ("OSRT_API", "nameId")
    )


def test_a_table_without_times_is_not_read(tmp_path):
    tables = a_run()
    imported = import_tables(tmp_path, tables, without=["CUPTI_ACTIVITY_KIND_KERNEL.end"])
    assert "CUPTI_ACTIVITY_KIND_KERNEL" not in imported.taken()
    assert imported.not_taken()["CUPTI_ACTIVITY_KIND_KERNEL (no columns start and end)"] == 1


def test_numbers_mean_what_the_tables_of_names_of_the_export_say(tmp_path):
    tables = a_run()
    tables["ENUM_CUDA_MEMCPY_OPER"] = [{"id": 2, "name": "CUDA_MEMCPY_KIND_HTOD"}]
    tables["ENUM_CUDA_MEM_KIND"] = [
        {"id": 2, "name": "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE"},
        {"id": 1, "name": "a kind of another version"},
    ]
    tables["ENUM_NSYS_EVENT_TYPE"] = [{"id": 34, "name": "NvtxPushPopRange"}]
    tables["NVTX_EVENTS"] = [nvtx("now a range", 0, 100_000, eventType=34), nvtx("not", 1, 2)]
    imported = import_tables(tmp_path, tables)
    with load(tmp_path / "run") as trace:
        copies = trace.sql("SELECT direction, memory FROM memcpy")
        assert [tuple(each) for each in copies] == [("host_to_device", "pageable")]
    assert imported.not_taken()["NVTX_EVENTS of type 59"] == 1


def test_every_process_is_one_of_the_run_with_correlation_ids_of_its_own(tmp_path):
    tables = a_run()
    other = 3 << 48 | 99 << 24
    tables["CUPTI_ACTIVITY_KIND_RUNTIME"] += [
        {**tables["CUPTI_ACTIVITY_KIND_RUNTIME"][0], "globalTid": other | 99}
    ]
    tables["CUPTI_ACTIVITY_KIND_KERNEL"] += [
        {**tables["CUPTI_ACTIVITY_KIND_KERNEL"][0], "globalPid": other, "streamId": 9}
    ]
    tables["PROCESSES"] += [{"globalPid": other, "name": "server"}]
    import_tables(tmp_path, tables)
    with load(tmp_path / "run") as trace:
        rows = trace.sql("SELECT os_pid, name FROM process ORDER BY os_pid")
        assert [tuple(each) for each in rows] == [(71, "python3.11"), (99, "server")]
        kernels = trace.sql('SELECT stream, operation, "count" FROM kernel ORDER BY stream')
        assert [tuple(each) for each in kernels] == [(7, "step/forward", 1), (9, "(none)", 1)]


def test_graphs_that_were_traced_as_a_whole_are_graphs(tmp_path):
    tables = a_run()
    tables["CUPTI_ACTIVITY_KIND_GRAPH_TRACE"] = [on_gpu(61_000, 66_000, 3, graphId=12)]
    import_tables(tmp_path, tables)
    with load(tmp_path / "run") as trace:
        rows = trace.sql('SELECT graph, "count", duration_ns FROM graph')
        assert [tuple(each) for each in rows] == [(12, 1, 5_000)]


def test_tables_that_are_not_read_are_counted(tmp_path):
    extra = """
        CREATE TABLE SCHED_EVENTS (start INT, cpu INT);
        INSERT INTO SCHED_EVENTS VALUES (1, 2), (3, 4);
        CREATE TABLE GPU_METRICS (timestamp INT, value INT);
        INSERT INTO GPU_METRICS VALUES (1, 2);
        CREATE TABLE ENUM_SOMETHING (id INT, name TEXT);
        CREATE VIEW CUPTI_ACTIVITY_KIND_GRAPH_TRACE AS SELECT 1 AS start, 2 AS end;
    """
    imported = import_tables(tmp_path, a_run(), extra=extra)
    not_taken = imported.not_taken()
    assert (not_taken["SCHED_EVENTS"], not_taken["GPU_METRICS"]) == (2, 1)
    assert "ENUM_SOMETHING" not in not_taken
    assert "CUPTI_ACTIVITY_KIND_GRAPH_TRACE" not in imported.taken()


def test_values_that_are_no_numbers_are_counted(tmp_path):
    tables = a_run()
    good = tables["CUPTI_ACTIVITY_KIND_KERNEL"][0]
    bad = [{**good, "start": "soon"}, {**good, "deviceId": 1.5}, {**good, "start": b"\0"}]
    tables["CUPTI_ACTIVITY_KIND_KERNEL"] += [
        *bad,
        {**good, "start": None},
        {**good, "end": 24_999},
        {**good, "end": 2**63 - 1},
        {**good, "start": -(2**63)},
    ]
    imported = import_tables(tmp_path, tables)
    assert imported.taken()["CUPTI_ACTIVITY_KIND_KERNEL"] == 1
    not_taken = imported.not_taken()
    assert not_taken["CUPTI_ACTIVITY_KIND_KERNEL with what is no number"] == 3
    assert not_taken["CUPTI_ACTIVITY_KIND_KERNEL without a time or an end"] == 4


def test_an_export_without_a_clock_begins_with_the_run(tmp_path):
    tables = a_run()
    del tables["TARGET_INFO_SESSION_START_TIME"]
    import_tables(tmp_path, tables)
    with load(tmp_path / "run") as trace:
        (run,) = trace.table("run").to_dicts()
        assert run["start_time"] is None


def test_work_of_no_known_process_is_that_of_the_only_one(tmp_path):
    without = ["CUPTI_ACTIVITY_KIND_KERNEL.globalPid"]
    assert import_tables(tmp_path, a_run(), without=without).taken()["CUPTI_ACTIVITY_KIND_KERNEL"]
    tables = a_run()
    other = {**tables["CUPTI_ACTIVITY_KIND_RUNTIME"][0], "globalTid": global_tid(5, pid=5)}
    tables["CUPTI_ACTIVITY_KIND_RUNTIME"] += [other]
    file = write(tmp_path / "two.sqlite", tables, without=without)
    imported = import_files([str(file)], str(tmp_path / "two"))
    assert imported.not_taken()["CUPTI_ACTIVITY_KIND_KERNEL of no process"] == 1


# ---- refused ------------------------------------------------------------------------------------


def test_a_database_of_something_else_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.executescript("CREATE TABLE person (name TEXT); INSERT INTO person VALUES ('a')")
    with pytest.raises(RlscopeError, match="no table of Nsight Systems"):
        import_files([str(tmp_path / "other.sqlite")], str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_compressed_database_is_refused_with_the_remedy(tmp_path):
    file = write(tmp_path / "report.sqlite", a_run())
    (tmp_path / "report.sqlite.gz").write_bytes(gzip.compress(file.read_bytes()))
    with pytest.raises(RlscopeError, match="gunzip"):
        import_files([str(tmp_path / "report.sqlite.gz")], str(tmp_path / "run"))


def test_a_name_with_marks_of_a_uri_is_a_name(tmp_path):
    file = write(tmp_path / "a?mode=memory&b #1%20.sqlite", a_run())
    assert import_files([str(file)], str(tmp_path / "run")).taken()["NVTX_EVENTS"] == 3


# ---- the documentation --------------------------------------------------------------------------


def test_every_column_that_is_read_stands_in_the_guide():
    guide = GUIDE.read_text()
    for table in schema.EVENT_TABLES:
        row = f"| `{table.name}` | {', '.join(f'`{name}`' for name in table.columns)} |"
        assert row in guide
    for name, (_, columns) in schema.OTHER_TABLES.items():
        assert f"| `{name}` | {', '.join(f'`{column}`' for column in columns)} |" in guide
    for enumeration in schema.ENUMERATIONS:
        assert f"`{enumeration.table}`" in guide
    assert re.search(r"no\s+real\s+export\s+was\s+at\s+hand", guide)
    assert "docs.nvidia.com/nsight-systems/" in guide
