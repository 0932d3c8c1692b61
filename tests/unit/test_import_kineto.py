"""Traces of torch.profiler become traces of rlscope: what becomes what, to the nanosecond."""

from __future__ import annotations

import json

from support.files.kineto_files import (
    REAL_US,
    annotation,
    import_rows,
    kernel,
    launch,
    op,
    row,
    self_times,
    write,
)

from rlscope.commands import main
from rlscope.importing.directory import import_files
from rlscope.opening import load

US = 1000
BEGIN_NS = REAL_US * US


def at(microseconds):
    """Microseconds since the begin, as a file has them: exact text, not a float."""
    return REAL_US + microseconds


# ---- what becomes what --------------------------------------------------------------------------


def events(directory, kind):
    """(name, start since the begin, duration, operation) of events of a kind, in order."""
    with load(directory) as trace:
        table = trace.sql(
            """
            SELECT event.name, start_ns - $begin AS start_ns, duration_ns, path
            FROM event LEFT JOIN operation USING (operation_id)
            WHERE kind = $kind ORDER BY start_ns, duration_ns DESC, event.name
            """,
            {"kind": kind, "begin": BEGIN_NS},
        )
        return [tuple(each) for each in table]


def test_times_are_decimal_text_and_no_floats(tmp_path):
    text = """{"schemaVersion": 1, "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7,
     "ts": 1700000000000000.001, "dur": 0.002},
    {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 7, "tid": 7,
     "ts": 1.700000000000000010e15, "dur": 1.2345},
    {"ph": "X", "cat": "cpu_op", "name": "c", "pid": 7, "tid": 7,
     "ts": 1700000000000020, "dur": 1.2344999999999999999999999999}]}"""
    (tmp_path / "rows.json").write_text(text)
    import_files([str(tmp_path / "rows.json")], str(tmp_path / "run"))
    assert events(tmp_path / "run", "call") == [
        ("a", 1, 2, None),
        ("b", 10, 1235, None),
        ("c", 20_000, 1234, None),
    ]


def test_the_base_is_added_wherever_it_stands_in_the_file(tmp_path):
    rows = json.dumps([op("a", -1.5, 2)])
    (tmp_path / "rows.json").write_text(
        f'{{"schemaVersion": 1, "traceEvents": {rows}, "baseTimeNanoseconds": {BEGIN_NS}}}'
    )
    import_files([str(tmp_path / "rows.json")], str(tmp_path / "run"))
    assert events(tmp_path / "run", "call") == [("a", -1500, 2000, None)]


def test_annotations_are_operations_and_calls_inside_of_calls_belong_to_the_outer_one(tmp_path):
    directory = import_rows(
        tmp_path,
        [
            kernel("gemm", at(50), 4, 9),
            annotation("inner", at(10), 30),
            op("aten::mm", at(12), 6),
            op("aten::empty", at(13), 2),
            launch(at(15), 2, 9),
            annotation("outer", at(0), 60),
        ],
    )
    assert events(directory, "operation") == [
        ("outer", 0, 60 * US, "outer"),
        ("outer/inner", 10 * US, 30 * US, "outer/inner"),
    ]
    assert events(directory, "call") == [("aten::mm", 12 * US, 6 * US, "outer/inner")]
    assert events(directory, "cuda_call") == [("cudaLaunchKernel", 15 * US, 2 * US, "outer/inner")]
    assert events(directory, "kernel") == [("gemm", 50 * US, 4 * US, "outer/inner")]
    assert self_times(directory)["aten::mm"] == (1, 4 * US)


def test_rows_of_one_microsecond_stand_as_in_their_file(tmp_path):
    directory = import_rows(
        tmp_path,
        [
            annotation("step", at(0), 20),
            op("before", at(5), 0),
            op("parent", at(5), 5),
            op("child", at(5), 5),
            op("grandchild", at(5), 0),
            op("next", at(10), 5),
            annotation("same", at(15), 5),
            op("same", at(15), 5),
        ],
    )
    assert events(directory, "call") == [
        ("parent", 5 * US, 5 * US, "step"),
        ("before", 5 * US, 0, "step"),
        ("next", 10 * US, 5 * US, "step"),
        ("same", 15 * US, 5 * US, "step/same"),
    ]
    assert self_times(directory)["parent"] == (1, 0)
    assert self_times(directory)["child"] == (1, 5 * US)
    with load(directory) as trace:
        assert not trace.table("loss").to_dicts()


def test_a_call_that_outlasts_the_one_around_it_begins_where_that_ends(tmp_path):
    directory = import_rows(
        tmp_path, [op("first", at(0), 10), op("late", at(5), 15), op("inside", at(6), 1)]
    )
    assert events(directory, "call") == [
        ("first", 0, 10 * US, None),
        ("late", 10 * US, 10 * US, None),
    ]
    with load(directory) as trace:
        losses = {each["kind"]: each["count"] for each in trace.table("loss").to_dicts()}
    assert losses == {"clamped": 2}


def test_annotations_may_overlap(tmp_path):
    directory = import_rows(tmp_path, [annotation("a", at(0), 10), annotation("b", at(5), 10)])
    assert events(directory, "operation") == [
        ("a", 0, 10 * US, "a"),
        ("a/b", 5 * US, 10 * US, "a/b"),
    ]


def test_profiler_steps_are_iterations(tmp_path):
    steps = [annotation(f"ProfilerStep#{5 + n}", at(10 + 20 * n), 20) for n in range(3)]
    directory = import_rows(tmp_path, [op("a", at(0), 5), *steps, op("b", at(70), 30)])
    with load(directory) as trace:
        found = trace.sql(
            "SELECT start_ns - $b, duration_ns, complete FROM iteration", {"b": BEGIN_NS}
        )
        assert [tuple(each) for each in found] == [
            (10 * US, 20 * US, True),
            (30 * US, 20 * US, True),
            (50 * US, 20 * US, True),
            (70 * US, 30 * US, False),
        ]
        assert trace.sql("SELECT count(*) FROM operation").to_dicts() == [{"count_star()": 0}]


def test_the_main_thread_is_in_python_and_others_are_not(tmp_path):
    directory = import_rows(
        tmp_path, [op("a", at(0), 5), op("b", at(15), 5), op("c", at(5), 5, tid=8)]
    )
    with load(directory) as trace:
        found = trace.sql(
            """SELECT os_tid, layer, sum(duration_ns)::BIGINT FROM breakdown_by_thread
            JOIN thread USING (thread_id) GROUP BY ALL ORDER BY ALL"""
        )
        assert [tuple(each) for each in found] == [
            (7, "framework", 10 * US),
            (7, "python", 10 * US),
            (8, "framework", 5 * US),
            (8, "none", 10 * US),
        ]


def python(name, ts, dur, tid=7):
    return row("python_function", name, ts, dur, tid)


def test_functions_of_python_inside_of_a_call_are_callbacks(tmp_path):
    rows = [
        python("train.py(1): main", at(0), 100),
        op("outer", at(10), 60),
        python("nn.Module: Net_0", at(20), 30),
        python("net.py(3): forward", at(21), 28),
        op("inner", at(25), 10),
        python("<built-in function len>", at(40), 5),
        op("after", at(80), 10),
        python("hook.py(1): late", at(85), 10),
        python("pool.py(1): run", at(0), 100, tid=8),
    ]
    directory = import_rows(tmp_path, rows)
    assert events(directory, "callback") == [("", 20 * US, 30 * US, None)]
    assert events(directory, "call") == [
        ("outer", 10 * US, 60 * US, None),
        ("inner", 25 * US, 10 * US, None),
        ("after", 80 * US, 10 * US, None),
    ]
    with load(directory) as trace:
        layers = trace.sql("SELECT layer, sum(duration_ns)::BIGINT FROM breakdown GROUP BY ALL")
        # From the first start of a call to the last end: 10 to 90.
        assert dict(tuple(each) for each in layers) == {"framework": 50 * US, "python": 30 * US}
        threads = [each["os_tid"] for each in trace.table("thread").to_dicts()]
        assert threads == [7]
        assert not trace.table("loss").to_dicts()


def test_a_call_that_outlasts_a_function_of_python_is_whole(tmp_path):
    """Frames and calls have clocks that are read at different times: calls decide."""
    rows = [
        op("outer", at(0), 50),
        python("a.py(1): f", at(10), 20),
        op("inner", at(25), 15),
        op("last", at(45), 2),
    ]
    directory = import_rows(tmp_path, rows)
    assert events(directory, "callback") == [("", 10 * US, 15 * US, None)]
    assert self_times(directory) == {
        "outer": (1, 18 * US),
        "inner": (1, 15 * US),
        "last": (1, 2 * US),
    }
    with load(directory) as trace:
        assert not trace.table("loss").to_dicts()


def test_threads_with_functions_of_python_are_pythons(tmp_path):
    rows = [op("a", at(0), 5, tid=8), python("f.py(1): f", at(0), 20, tid=8), op("b", at(15), 5)]
    directory = import_rows(tmp_path, rows)
    with load(directory) as trace:
        found = trace.sql(
            """SELECT os_tid, layer, sum(duration_ns)::BIGINT FROM breakdown_by_thread
            JOIN thread USING (thread_id) GROUP BY ALL ORDER BY ALL"""
        )
        assert (8, "python", 15 * US) in [tuple(each) for each in found]


def test_copies_and_synchronisation_say_between_what_and_of_what(tmp_path):
    where = {"device": 0, "context": 1, "stream": 7}
    directory = import_rows(
        tmp_path,
        [
            op("a", at(0), 30),
            row("cuda_runtime", "cudaStreamSynchronize", at(20), 5, correlation=3),
            row("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", at(5), 1, **where, bytes=512),
            row("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", at(7), 1, **where, bytes=8),
            row("gpu_memset", "Memset (Device)", at(9), 1, **where, bytes=16),
            row(
                "cuda_sync", "Stream Sync", at(21), 3, -1, **where, correlation=3,
                cuda_sync_kind="Stream Sync",
            ),
        ],
    )  # fmt: skip
    with load(directory) as trace:
        copies = trace.sql("SELECT direction, memory, bytes FROM memcpy ORDER BY direction")
        assert [tuple(each) for each in copies] == [
            ("device_to_host", "pinned", 512),
            ("host_to_device", "pageable", 8),
        ]
        sets = trace.sql("SELECT memory, bytes FROM memset")
        assert [tuple(each) for each in sets] == [("device", 16)]
        syncs = trace.sql("SELECT kind, duration_ns FROM sync")
        assert [tuple(each) for each in syncs] == [("stream", 5 * US)]


def test_the_first_names_of_categories_are_known(tmp_path):
    renamed = {"cpu_op": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel"}
    rows = [op("a", at(0), 9), launch(at(1), 1, 2), kernel("gemm", at(5), 3, 2)]
    old = [{**each, "cat": renamed[each["cat"]]} for each in rows]
    directory = import_rows(tmp_path, old)
    assert events(directory, "call") == [("a", 0, 9 * US, None)]
    assert events(directory, "kernel") == [("gemm", 5 * US, 3 * US, None)]


def test_what_is_not_taken_is_counted_and_kept_in_the_metadata(tmp_path):
    rows = [
        op("a", at(0), 5),
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "pid": 7, "tid": 7, "ts": at(1), "id": 1},
        row("python_function", "train.py(1): main", at(0), 5),
        row("python_function", "<built-in method sqrt of module object at 0x1>", at(0), 5),
        op("endless", at(2), None),
        op("backwards", at(2), -1),
        {"ph": "X", "cat": "cpu_op", "name": "when", "pid": 7, "tid": 7, "dur": 1},
        "no row",
    ]
    imported = import_files([str(write(tmp_path / "rows.json", rows))], str(tmp_path / "run"))
    expected = {
        "ac2g (phase s)": 1,
        "python_function written in C": 1,
        "cpu_op without a duration": 2,
        "cpu_op without a time": 1,
        "elements that are not rows": 1,
    }
    assert imported.not_taken() == expected
    with load(tmp_path / "run") as trace:
        ((value,),) = trace.sql("SELECT value FROM metadata WHERE key = 'rlscope.imported'")
    note = json.loads(value)
    assert note["not_taken"] == expected
    assert note["rows"] == {"cpu_op": 1, "python_function": 1}
    assert note["file"] == "rows.json"


def test_what_only_rlscope_records_is_absent_with_the_reason(tmp_path):
    directory = import_rows(tmp_path, [annotation("a", at(0), 5), launch(at(1), 1, 2)])
    with load(directory) as trace:
        absent = {(each[0], each[1]): each[2] for each in trace.table("absent")}
        reason = "the run was imported, and traces of torch.profiler (Kineto) do not have it"
        for relation in ("overhead", "calibration", "wait", "machine_sample", "utilisation"):
            assert absent[relation, "*"] == reason
            assert not len(trace.table(relation))
        for column in ("cpu_ns", "profiler_cpu_ns", "exit"):
            assert absent["process", column] == reason
        assert absent["breakdown", "overhead_ns"] == reason
        assert "no row of GPU work" in absent["breakdown", "gpu_busy"]
        (run,) = trace.table("run").to_dicts()
        assert run["imported"] == "torch.profiler (Kineto): rows.json"
        assert run["command"] is None


# ---- several files ------------------------------------------------------------------------------


def test_a_file_without_a_real_clock_begins_with_the_run_and_says_so(tmp_path):
    real = write(tmp_path / "real.json", [op("a", at(0), 5)])
    relative = write(tmp_path / "relative.json", [op("b", 12, 5)])
    imported = import_files([str(relative), str(real)], str(tmp_path / "run"))
    assert [file.path for file in imported.unaligned()] == [str(relative)]
    assert events(tmp_path / "run", "call") == [("a", 0, 5 * US, None), ("b", 0, 5 * US, None)]
    with load(tmp_path / "run") as trace:
        told = trace.sql("SELECT value FROM metadata WHERE key = 'rlscope.imported'")
        clocks = [json.loads(value).get("clock") for (value,) in told]
    assert sorted(map(str, clocks)) == ["None", "not a real one: the process begins with the run"]


def test_a_run_without_any_real_clock_has_no_date(tmp_path):
    directory = import_rows(tmp_path, [op("b", 0, 5)])
    with load(directory) as trace:
        (run,) = trace.table("run").to_dicts()
        assert run["start_time"] is None
        assert run["end_ns"] - run["start_ns"] == 5 * US
        absent = {(each[0], each[1]): each[2] for each in trace.table("absent")}
        assert "no file has a real clock" in absent["run", "start_time"]


# ---- the verb -----------------------------------------------------------------------------------


def test_the_verb_prints_the_directory_and_says_what_was_taken(tmp_path, capsys):
    real = str(write(tmp_path / "real.json", [op("a", at(0), 5), row("Trace", "all", at(0), 9)]))
    relative = str(write(tmp_path / "relative.json", [op("b", 12, 5)]))
    directory = str(tmp_path / "run")
    assert main(["import", real, relative, "-o", directory]) == 0
    told = capsys.readouterr()
    assert told.out == f"{directory}\n"
    taken, not_taken, clock = told.err.splitlines()
    assert (taken, not_taken) == ("taken: 2 cpu_op", "not taken: 1 Trace (phase X)")
    assert clock.startswith(f"{relative} has no real clock: ")
    assert main(["import", real, "-o", directory]) == 1
    assert "will not overwrite" in capsys.readouterr().err
    assert main(["summary", directory]) == 0
    assert "imported from torch.profiler (Kineto): " in capsys.readouterr().out
    assert main(["info", directory]) == 0
    assert "imported" in capsys.readouterr().out
    assert main(["report", directory]) == 0
    assert "imported from" in (tmp_path / "run" / "report.html").read_text()


def test_a_file_that_is_not_there_is_one_line(tmp_path, capsys):
    assert main(["import", str(tmp_path / "no.json"), "-o", str(tmp_path / "run")]) == 1
    told = capsys.readouterr().err
    assert told == f"rlscope: cannot read {tmp_path}/no.json: No such file or directory\n"


def test_times_that_are_texts_are_times(tmp_path):
    """torch_npu writes "ts": "1000.125"."""
    numbers = [annotation("act", at(0), 300.5), op("linear", at(10), 100), launch(at(20), 5, 3)]
    texts = [{**each, "ts": str(each["ts"]), "dur": str(each["dur"])} for each in numbers]
    found = []
    for name, each in (("texts", texts), ("numbers", numbers)):
        (tmp_path / name).mkdir()
        with load(import_rows(tmp_path / name, each)) as trace:
            found.append([*trace.sql("SELECT operation, duration_ns FROM breakdown ORDER BY ALL")])
    assert found[0] == found[1]
    assert any(operation == "act" for operation, _ in found[0])


def test_a_text_that_is_no_time_is_none(tmp_path):
    wrong = [{**op("when", at(0), 1), "ts": "soon"}, {**op("long", at(0), 1), "dur": ""}]
    rows = [op("right", at(0), 1), *wrong]
    imported = import_files([str(write(tmp_path / "rows.json", rows))], str(tmp_path / "run"))
    assert imported.not_taken() == {"cpu_op without a time": 1, "cpu_op without a duration": 1}
