"""Tables with the columns of relation `event`, as Parquet and as CSV."""

from __future__ import annotations

import json

import duckdb
import pytest
from support.files.kineto_files import GOLDEN, import_golden

from rlscope.commands import main
from rlscope.errors import RlscopeError
from rlscope.importing.directory import import_files
from rlscope.opening import load

HEADER = "process_id,thread_id,kind,layer,name,start_ns,duration_ns,iteration\n"


def import_csv(folder, text, name="events.csv"):
    (folder / name).write_text(text)
    return import_files([str(folder / name)], str(folder / "run"))


def write_parquet(path, select):
    with duckdb.connect() as database:
        database.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


# ---- what becomes what --------------------------------------------------------------------------


def test_rows_of_a_csv_become_intervals_of_their_threads(tmp_path):
    text = HEADER + (
        '4,1,operation,,step,1000,900,0\n4,1,operation,,"step/a\\/b",1100,200,0\n'
        "4,1,call,framework,mm,1150,50,0\n4,1,call,,plain,1250,10,0\n"
        "4,1,wait,wait,lock|acquire,1300,100,0\n4,2,call,simulator,mj_step,1500,80,\n"
        "4,1,cuda_call,cuda_api,cudaLaunchKernel,1600,10,1\n4,1,odd,,what,1,1,\n"
        "4,1,call,gpu,no layer of calls,1700,1,\n4,1,operation,,backwards,1700,-1,\n"
        "4,1,operation,,,1800,,\n"
    )
    imported = import_csv(tmp_path, text)
    with load(tmp_path / "run") as trace:
        table = trace.sql(
            """SELECT kind, layer, event.name, start_ns, duration_ns, path
            FROM event LEFT JOIN operation USING (operation_id) ORDER BY start_ns"""
        )
        begin = 1000 - 10**12
        assert [(*each[:3], each[3] + begin, *each[4:]) for each in table] == [
            ("operation", None, "step", 1000, 900, "step"),
            ("operation", None, "step/a\\/b", 1100, 200, "step/a\\/b"),
            ("call", "framework", "mm", 1150, 50, "step/a\\/b"),
            ("call", "none", "plain", 1250, 10, "step/a\\/b"),
            ("wait", "wait", "lock|acquire", 1300, 100, "step"),
            ("call", "simulator", "mj_step", 1500, 80, "step"),
            ("cuda_call", "cuda_api", "cudaLaunchKernel", 1600, 10, "step"),
        ]
        iterations = trace.sql("SELECT start_ns, complete FROM iteration ORDER BY start_ns")
        assert [(start + begin, complete) for start, complete in iterations] == [
            (1000, True),
            (1600, False),
        ]
    assert imported.not_taken() == {
        "kind odd": 1,
        "call without a time, a length or a layer": 1,
        "operation without a time, a length or a layer": 2,
    }


def test_the_event_relation_of_a_trace_comes_back_as_it_was(tmp_path):
    """But for names of copies, of what a copy goes between, and of the layer python."""
    (golden,) = [path for path in GOLDEN if path.name.startswith("v100")]
    import_golden(golden, tmp_path)
    parquet = str(tmp_path / "event.parquet")
    columns = (
        "process_id, kind, layer, start_ns, duration_ns, correlation_id, device, stream, bytes,"
        " iteration, path, CASE WHEN kind IN ('memcpy', 'memset') THEN '' ELSE event.name END"
    )
    query = f"SELECT {columns} FROM event LEFT JOIN operation USING (operation_id) ORDER BY ALL"
    with load(tmp_path / "run") as trace:
        before = [tuple(each) for each in trace.sql(query)]
        frame = trace.sql("SELECT * FROM event").to_arrow()
        with duckdb.connect() as database:
            database.register("frame", frame)
            database.execute(f"COPY frame TO '{parquet}' (FORMAT parquet)")
    imported = import_files([parquet], str(tmp_path / "again"))
    assert not imported.not_taken()
    with load(tmp_path / "again") as trace:
        after = [tuple(each) for each in trace.sql(query)]
        assert not trace.table("loss").to_dicts()
    assert after == before


def test_several_processes_are_processes_of_the_run(tmp_path):
    import_csv(
        tmp_path,
        HEADER + "1,1,operation,,a,100,10,\n2,1,operation,,b,105,10,\n",
    )
    with load(tmp_path / "run") as trace:
        spans = trace.sql(
            "SELECT process.start_ns - run.start_ns, process.end_ns - run.start_ns"
            " FROM process, run ORDER BY 1"
        )
        assert [tuple(each) for each in spans] == [(0, 10), (5, 15)]


def test_only_four_columns_are_needed(tmp_path):
    import_csv(tmp_path, "name,kind,duration_ns,start_ns,color\na,operation,5,7,red\n")
    with load(tmp_path / "run") as trace:
        assert [each["path"] for each in trace.table("operation").to_dicts()] == ["a"]


def test_times_of_the_world_are_the_runs(tmp_path):
    begin = 1_700_000_000_000_000_001
    import_csv(tmp_path, f"name,kind,duration_ns,start_ns\na,operation,5,{begin}\n")
    with load(tmp_path / "run") as trace:
        (run,) = trace.table("run").to_dicts()
        assert run["start_ns"] == begin
        assert run["start_time"].startswith("2023-11-14")


# ---- refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["kind", "name"])
def test_a_column_that_is_missing_is_named(tmp_path, missing):
    columns = [name for name in ("kind", "name", "start_ns", "duration_ns") if name != missing]
    with pytest.raises(RlscopeError, match=f"lacks column {missing} of relation event"):
        import_csv(tmp_path, ",".join(columns) + "\n1,2,3\n")


@pytest.mark.parametrize("value", ["soon", "1.5", "9223372036854775808", "1e3x", "--1"])
def test_a_value_that_is_no_whole_number_is_named_with_its_column(tmp_path, value):
    with pytest.raises(RlscopeError) as error:
        import_csv(tmp_path, f"kind,name,start_ns,duration_ns\noperation,a,7,{value}\n")
    assert str(error.value).endswith(f"column duration_ns has '{value}', not a whole number")


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        ("'operation' AS kind, 'a' AS name, 1.5::DOUBLE AS start_ns, 1 AS duration_ns",
         "column start_ns is DOUBLE, not whole numbers"),
        ("'operation' AS kind, 7 AS name, 1 AS start_ns, 1 AS duration_ns",
         "column name is INTEGER, not text"),
        ("'operation' AS kind, 'a' AS name, now() AS start_ns, 1 AS duration_ns",
         "column start_ns is TIMESTAMP WITH TIME ZONE, not whole numbers"),
        ("'operation' AS kind, 'a' AS name, 18446744073709551615::UBIGINT AS start_ns,"
         " 1 AS duration_ns", "has a number that does not fit 64 bits: "),
        ("1 AS x", "lacks column kind"),
    ],
)  # fmt: skip
def test_a_type_that_is_wrong_is_named_with_its_column(tmp_path, select, reason):
    file = write_parquet(tmp_path / "events.parquet", f"SELECT {select}")
    with pytest.raises(RlscopeError) as error:
        import_files([str(file)], str(tmp_path / "run"))
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_damaged_parquet_file_is_one_line_with_the_name_of_the_file(tmp_path, capsys):
    file = write_parquet(tmp_path / "events.parquet", "SELECT 1 AS kind")
    file.write_bytes(file.read_bytes()[:-9])
    assert main(["import", str(file), "-o", str(tmp_path / "run")]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"rlscope: {file} is damaged: ")
    assert told.count("\n") == 1
    assert "/proc/" not in told


def test_an_empty_table_has_nothing_to_take(tmp_path):
    with pytest.raises(RlscopeError, match="no row that rlscope can import"):
        import_csv(tmp_path, HEADER)


def test_a_name_that_looks_like_a_pattern_is_a_name(tmp_path):
    imported = import_csv(tmp_path, HEADER + "1,1,operation,,a,1,2,\n", name="a*[0-9]?'.csv")
    assert imported.taken() == {"operation": 1}
    with load(tmp_path / "run") as trace:
        told = json.loads(
            trace.sql("SELECT value FROM metadata WHERE key = 'rlscope.imported'").to_dicts()[0][
                "value"
            ]
        )
    assert told["file"] == "a*[0-9]?'.csv"
