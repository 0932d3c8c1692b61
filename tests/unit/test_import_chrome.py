"""Traces in Chrome's format, of any tool: slices become operations."""

from __future__ import annotations

import gzip
import json

import pytest

from rlscope.errors import RlscopeError
from rlscope.importing.directory import import_files
from rlscope.opening import load

US = 1000


def row(phase, name=None, ts=None, *, pid=1, tid=1, **others):
    found = {"ph": phase, "name": name, "ts": ts, "pid": pid, "tid": tid, **others}
    return {key: value for key, value in found.items() if value is not None}


def import_text(folder, text, name="trace.json"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return import_files([str(folder / name)], str(folder / "run"))


def import_rows(folder, rows):
    return import_text(folder, json.dumps({"traceEvents": rows}))


def instances(folder):
    """(thread's name, path, start since the begin, duration) in order."""
    with load(folder / "run") as trace:
        table = trace.sql(
            """SELECT thread.name, event.name, event.start_ns - run.start_ns, event.duration_ns
            FROM event JOIN thread USING (thread_id), run
            ORDER BY event.start_ns, event.duration_ns DESC, event.name"""
        )
        return [tuple(each) for each in table]


def test_slices_are_operations_of_their_threads(tmp_path):
    imported = import_rows(
        tmp_path,
        [
            row("M", "process_name", args={"name": "trainer"}),
            row("M", "thread_name", args={"name": "main"}),
            row("M", "thread_name", tid=2, args={"name": "worker"}),
            row("B", "step", 10, cat="loop"),
            row("X", "act", 12.5, dur=3),
            row("X", "inner", 13, dur=1),
            row("E", None, 30.001),
            row("X", "load", 11, tid=2, dur=4),
        ],
    )
    assert instances(tmp_path) == [
        ("main", "step", 0, 20 * US + 1),
        ("worker", "load", 1 * US, 4 * US),
        ("main", "step/act", 2500, 3 * US),
        ("main", "step/act/inner", 3 * US, 1 * US),
    ]
    assert imported.taken() == {"slices": 4}
    assert not imported.not_taken()
    with load(tmp_path / "run") as trace:
        (process,) = trace.table("process").to_dicts()
        assert (process["name"], process["os_pid"]) == ("trainer", 1)
        ((total,),) = trace.sql("SELECT sum(duration_ns)::BIGINT FROM breakdown")
        assert total == process["end_ns"] - process["start_ns"] == 20 * US + 1
        assert {layer for (layer,) in trace.sql("SELECT layer FROM breakdown")} == {"none"}


def test_of_slices_that_start_at_once_the_longest_is_outside_wherever_it_stands(tmp_path):
    rows = [
        row("X", "inner", 10, dur=1),
        row("X", "middle", 10, dur=5),
        row("X", "outer", 10, dur=9),
    ]
    import_rows(tmp_path, rows)
    assert [name for _, name, *_ in instances(tmp_path)] == [
        "outer",
        "outer/middle",
        "outer/middle/inner",
    ]


def test_begins_and_ends_of_one_time_nest_in_their_order(tmp_path):
    rows = [row("B", "a", 10), row("B", "b", 10), row("E", "b", 15), row("E", "a", 15)]
    import_rows(tmp_path, [row("X", "all", 0, dur=20), *rows])
    assert {name for _, name, *_ in instances(tmp_path)} == {"all", "all/a", "all/a/b"}


def test_slices_of_ids_overlap_on_tracks_of_their_own(tmp_path):
    imported = import_rows(
        tmp_path,
        [
            row("b", "request", 0, cat="http", id="0x1"),
            row("b", "request", 5, cat="http", id="0x2"),
            row("b", "parse", 6, cat="http", id="0x2"),
            row("n", "note", 7, cat="http", id="0x2"),
            row("e", "parse", 8, cat="http", id="0x2"),
            row("e", "request", 10, cat="http", id="0x1"),
            row("b", "request", 12, cat="http", id2={"local": "0x3"}),
            row("e", "request", 14, cat="http", id2={"local": "0x3"}),
            row("e", "request", 20, cat="http", id="0x2"),
            row("S", "old", 21, cat="ipc", id=1),
            row("F", "old", 25, cat="ipc", id=1),
            row("e", "request", 30, cat="http", id="0x9"),
        ],
    )
    assert instances(tmp_path) == [
        ("http (track 0)", "request", 0, 10 * US),
        ("http (track 1)", "request", 5 * US, 15 * US),
        ("http (track 1)", "request/parse", 6 * US, 2 * US),
        ("http (track 0)", "request", 12 * US, 2 * US),
        ("ipc (track 0)", "old", 21 * US, 4 * US),
    ]
    assert imported.not_taken() == {
        "http (phase n)": 1,
        "http (phase e) without a beginning": 1,
    }


def test_every_process_is_one_of_the_run_and_they_share_a_clock(tmp_path):
    import_rows(
        tmp_path,
        [
            row("X", "b", 30, pid=7, dur=10),
            row("X", "a", 10, pid="node 1", dur=10),
            row("C", "memory", 12, pid="counters only", args={"bytes": 3}),
        ],
    )
    with load(tmp_path / "run") as trace:
        rows = trace.sql(
            "SELECT os_pid, process.start_ns - run.start_ns FROM process, run "
            "ORDER BY os_pid NULLS FIRST"
        )
        assert [tuple(each) for each in rows] == [(None, 0), (7, 20 * US)]


def test_what_is_unknown_is_counted_by_its_phase(tmp_path):
    imported = import_rows(
        tmp_path,
        [
            row("X", "a", 10, dur=10),
            row("X", "endless", 10),
            row("X", "when", dur=1),
            row("C", "memory", 12, args={"bytes": 3}),
            row("i", "mark", 13, s="g"),
            row("s", "arrow", 13, cat="flow", id=1),
            row("?", "what", 13),
            row("E", "a", 14),
            {"name": "no phase"},
            3,
        ],
    )
    assert imported.not_taken() == {
        "endless (phase X) without a duration": 1,
        "when (phase X) without a time": 1,
        "memory (phase C)": 1,
        "mark (phase i)": 1,
        "flow (phase s)": 1,
        "what (phase ?)": 1,
        "a (phase E) without a beginning": 1,
        "no phase (phase )": 1,
        "elements that are not rows": 1,
    }


def test_what_has_no_end_runs_to_the_end_of_its_process(tmp_path):
    imported = import_rows(
        tmp_path,
        [
            row("B", "main", 0),
            row("X", "a", 10, dur=10),
            row("B", "last", 15),
            row("b", "open", 5, cat="c", id=1),
        ],
    )
    assert [tuple(each[1:]) for each in instances(tmp_path)] == [
        ("main", 0, 20 * US),
        ("open", 5 * US, 15 * US),
        ("main/a", 10 * US, 10 * US),
        ("main/a/last", 15 * US, 5 * US),
    ]
    assert imported.taken() == {"slices": 1, "slices without an end": 3}


@pytest.mark.parametrize("end", ["", ",", ",\n", "]", "\n]\n"])
def test_an_array_may_lack_its_end(tmp_path, end):
    import_text(tmp_path, "[\n" + json.dumps(row("X", "a", 1, dur=2)) + end)
    assert [name for _, name, *_ in instances(tmp_path)] == ["a"]


def test_a_file_may_be_compressed(tmp_path):
    text = json.dumps({"otherData": {"x": 1}, "traceEvents": [row("X", "a", 1, dur=2)]})
    import_text(tmp_path, gzip.compress(text.encode()), "trace.json.gz")
    assert [name for _, name, *_ in instances(tmp_path)] == ["a"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"ph": "X", "ts"', "ends too early"),
        ('[{"ph": "X"} {"ph": "X"}]', "a comma .* is missing"),
        ('{"traceEvents": [{"ph": "X"}', "ends too early"),
        ('{"traceEvents": [{"ph": "X"},', "ends too early"),
        ('{"traceEvents": []}', "no row that rlscope can import"),
        ('{"traceEvents": [], "traceEvents": 3}', "not an array"),
        ("[3]", "none of "),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path, text, reason):
    with pytest.raises(RlscopeError, match=reason) as error:
        import_text(tmp_path, text)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()
