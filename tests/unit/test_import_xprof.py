"""Traces of XProf, as JAX and TensorFlow write them, in small."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from rlscope.commands import main
from rlscope.importing.directory import import_files
from rlscope.opening import load

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "xprof").glob("*.trace.json.gz"))
HOST, GPU, TPU = 701, 1, 9
US = 1000


def named(kind, pid, name, tid=None):
    found = {"ph": "M", "name": f"{kind}_name", "pid": pid, "args": {"name": name}}
    return found if tid is None else {**found, "tid": tid}


def row(name, ts, dur, *, pid=HOST, tid=5, **arguments):
    found = {"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name}
    return {**found, "args": arguments} if arguments else found


PLANES = [
    named("process", HOST, "/host:CPU"),
    named("thread", HOST, "python", tid=5),
    named("thread", HOST, "tf_XLAEigen/1", tid=6),
    named("process", GPU, "/device:GPU:1 NVIDIA H100"),
    named("thread", GPU, "Stream #14(Compute,MemcpyD2H)", tid=2),
    named("thread", GPU, "XLA Ops", tid=3),
    named("process", TPU, "/device:TPU:0"),
]


def import_rows(folder, rows, operations=()):
    content = {"displayTimeUnit": "ns", "traceEvents": [*PLANES, *rows, {}]}
    file = folder / "box.trace.json"
    file.write_text(json.dumps(content))
    return import_files([str(file)], str(folder / "run"), operations=operations)


def events(folder):
    with load(folder / "run") as trace:
        table = trace.sql(
            """SELECT kind, event.name, event.start_ns - run.start_ns, event.duration_ns, path
            FROM event LEFT JOIN operation USING (operation_id), run
            ORDER BY event.start_ns, event.duration_ns DESC"""
        )
        return [tuple(each) for each in table]


def test_steps_are_iterations_and_other_rows_of_the_host_are_the_frameworks(tmp_path):
    rows = [
        row("train", 0, 100, step_num="7"),
        row("PjitFunction(f)", 10, 20),
        row("$pjit.py:250 cache_miss", 12, 5),
        row("$builtins len", 13, 1),
        row("Inner::Call", 14, 1),
        row("ThreadpoolListener::Record", 15, 1e-06),
        row("train", 100, 50, step_num="8"),
        row("fusion", 20, 4, tid=6, hlo_op="fusion"),
    ]
    imported = import_rows(tmp_path, rows)
    assert events(tmp_path) == [
        ("call", "PjitFunction(f)", 10 * US, 20 * US, None),
        ("callback", "", 12 * US, 5 * US, None),
        ("call", "Inner::Call", 14 * US, 1 * US, None),
        ("call", "fusion", 20 * US, 4 * US, None),
    ]
    assert imported.taken() == {"rows of the host": 3, "steps": 2, "Python functions": 1}
    assert imported.not_taken() == {
        "Python functions written in C": 1,
        "rows of the host of no duration": 1,
    }
    with load(tmp_path / "run") as trace:
        complete = [each["complete"] for each in trace.table("iteration").to_dicts()]
        assert complete == [True, True, False]
        ((first,),) = trace.sql("SELECT value FROM metadata WHERE key = 'first_step'")
        assert first == "7"
        (host,) = trace.table("host").to_dicts()
        assert host["name"] == "box"
        layers = dict(
            tuple(each)
            for each in trace.sql(
                "SELECT layer, sum(duration_ns)::BIGINT FROM breakdown_by_thread"
                " JOIN thread USING (thread_id) WHERE thread.name = 'python' GROUP BY ALL"
            )
        )
        assert layers == {"framework": 16 * US, "python": 134 * US}


def test_names_that_the_user_gives_are_operations(tmp_path):
    rows = [row("act", 0, 50), row("PjitFunction(f)", 10, 20), row("learn", 60, 20)]
    import_rows(tmp_path, rows, operations=["act", "learn"])
    assert events(tmp_path) == [
        ("operation", "act", 0, 50 * US, "act"),
        ("call", "PjitFunction(f)", 10 * US, 20 * US, "act"),
        ("operation", "learn", 60 * US, 20 * US, "learn"),
    ]


def test_a_name_that_no_row_has_is_said(tmp_path, capsys):
    (tmp_path / "box.trace.json").write_text(json.dumps({"traceEvents": [*PLANES, row("a", 0, 5)]}))
    arguments = ["--operation", "a", "--operation", "typo", "-o", str(tmp_path / "run")]
    assert main(["import", str(tmp_path / "box.trace.json"), *arguments]) == 0
    taken, nothing = capsys.readouterr().err.splitlines()
    assert taken == "taken: 1 operations"
    assert nothing.startswith("--operation typo found nothing: ")


def test_streams_of_gpus_have_their_launches(tmp_path):
    copy = "kind_src:pinned kind_dst:device size:512 dest:0 async:1"
    imported = import_rows(
        tmp_path,
        [
            row("run", 0, 50),
            row("cuLaunchKernel", 10, 5, correlation_id="3"),
            row("gemm", 20, 9, pid=GPU, tid=2, correlation_id="3", kernel_details="regs:8"),
            row("MemcpyH2D", 30, 2, pid=GPU, tid=2, correlation_id="4", memcpy_details=copy),
            row("Memset", 33, 1, pid=GPU, tid=2, correlation_id="5"),
            row("fusion.1", 20, 9, pid=GPU, tid=3),
            row("op", 20, 9, pid=TPU),
        ],
        operations=["run"],
    )
    assert imported.not_taken() == {"line of a GPU: XLA Ops": 1, "/device:TPU:0": 1}
    with load(tmp_path / "run") as trace:
        kernels = trace.sql('SELECT device, stream, name, operation, "count" FROM kernel')
        assert [tuple(each) for each in kernels] == [(1, 14, "gemm", "run", 1)]
        copies = trace.sql("SELECT direction, memory, bytes FROM memcpy")
        assert [tuple(each) for each in copies] == [("host_to_device", "pinned", 512)]
        ((sets,),) = trace.sql('SELECT sum("count")::BIGINT FROM memset')
        assert sets == 1


def test_ends_are_rounded_and_no_durations(tmp_path):
    """Picoseconds: the inner one ends with the outer one, whose rounded duration is shorter."""
    rows = [row("outer", 0.0004, 1.0004), row("inner", 0.0006, 1.0002)]
    import_rows(tmp_path, rows)
    assert events(tmp_path) == [("call", "outer", 0, 1001, None)]
    with load(tmp_path / "run") as trace:
        assert not trace.table("loss").to_dicts()


def test_rows_of_no_plane_are_counted(tmp_path):
    imported = import_rows(
        tmp_path, [row("a", 0, 1), row("b", 0, 1, pid=3), {"ph": "C", "pid": HOST}]
    )
    assert imported.not_taken() == {"rows without a plane": 1, "rows (phase C)": 1}


# ---- real files ---------------------------------------------------------------------------------


@pytest.fixture(params=GOLDEN, ids=lambda path: path.name.partition(".")[0])
def golden(request, tmp_path):
    """(rows of the host, what import_files says, trace directory) of a real file."""
    with gzip.open(request.param, "rt") as file:
        content = json.load(file, parse_float=Decimal)
    rows = [each for each in content["traceEvents"] if each.get("ph") == "X"]
    imported = import_files(
        [str(request.param)], str(tmp_path / "run"), operations=["act", "learn"]
    )
    return rows, imported, tmp_path / "run"


def kind_of(each):
    if each["name"].startswith("$"):
        is_python = re.match(r"\$[^:]*:\d+ ", each["name"])
        return "Python functions" if is_python else "Python functions written in C"
    if "step_num" in each.get("args", {}):
        return "steps"
    if each["name"] in ("act", "learn"):
        return "operations"
    is_long = Decimal(each["dur"]) > Decimal("0.001")
    return "rows of the host" if is_long else "rows of the host of no duration"


def test_rows_of_a_real_file_are_taken_by_what_they_are(golden):
    rows, imported, _ = golden
    expected = Counter(map(kind_of, rows))
    others = ("Python functions written in C", "rows of the host of no duration")
    assert imported.taken() == {key: expected[key] for key in expected if key not in others}
    for key in others:
        assert imported.not_taken()[key] == expected[key]


def test_a_real_file_has_its_steps_its_operations_and_no_loss(golden):
    rows, _, directory = golden
    with load(directory) as trace:
        ((total, length),) = trace.sql(
            """SELECT (SELECT sum(duration_ns)::BIGINT FROM breakdown), end_ns - start_ns
            FROM process"""
        )
        taken = [
            each
            for each in rows
            if "functions" not in kind_of(each) and "no time" not in kind_of(each)
        ]
        first = min(Decimal(each["ts"]) for each in taken)
        last = max(Decimal(each["ts"]) + Decimal(each["dur"]) for each in taken)
        assert total == length
        assert abs(length - 1000 * (last - first)) <= 1
        assert [each["complete"] for each in trace.table("iteration").to_dicts()][:3] == [True] * 3
        found = trace.sql(
            "SELECT path, count(*) FROM operation_instance JOIN operation USING (operation_id)"
            " GROUP BY ALL ORDER BY path"
        )
        names = Counter(each["name"] for each in rows if kind_of(each) == "operations")
        assert [tuple(each) for each in found] == sorted(names.items())
        assert not trace.table("loss").to_dicts()
