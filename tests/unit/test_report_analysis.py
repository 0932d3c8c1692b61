"""What the report asks of SQL: iterations, timeline, processes, machine, coverage, losses."""

from typing import Any

import pytest
from support.files.facts import assert_says
from support.files.relation_rows import SECOND, Relations, process, share

from rlscope.analysis import buckets, coverage, machine, operations, processes
from rlscope.report import process_sentences
from rlscope.report.sentences import bookkeeping
from rlscope.report.sentences import coverage as coverage_sentences


def test_rolled_up_entries_are_not_counted_as_none() -> None:
    rows: dict[str, Any] = {
        "process": [process(0, 0, 99)],
        "operation": [
            {"operation_id": 4, "name": "sim", "path": "sim", "depth": 0, "source": "automatic"}
        ],
        "breakdown": [share(0, "sim", "python", 50, source="automatic")],
        "operation_instance": [{"process_id": 0, "operation_id": 4}],
    }
    rolled_up = {"process_id": 0, "kind": "rolled_up", "count": 7, "duration_ns": 7}
    for losses, instances in (([], 1), ([rolled_up], None)):
        trace = Relations(**rows, loss=losses)
        (row,) = operations.automatic_operations(trace, operations=3).to_dicts()
        assert (row["instances"], row["duration_ns"]) == (instances, 50)


def _timeline(bucket_counts: list[int]) -> list[dict[str, object]]:
    rows = []
    for level, count in enumerate(bucket_counts):
        width = 1000 // count
        for i in range(count):
            row = {
                "process_id": 0,
                "level": level,
                "start_ns": 5000 + i * width,
                "bucket_ns": width,
            }
            rows.append({**row, "operation": "a", "layer": "python", "duration_ns": width - 1})
            rows.append({**row, "operation": "b", "layer": "python", "duration_ns": 1})
    return rows


def test_a_timeline_is_the_finest_level_that_fits() -> None:
    trace = Relations(
        run=[{"start_ns": 4000, "end_ns": 6000}],
        process=[process(0, 5000, 6000)],
        timeline=_timeline([100, 50, 25]),
    )
    table = buckets.timeline_layer(trace, buckets=60, processes=1)
    assert len(table) == 50
    assert set(table["bucket_ns"]) == {20}
    assert (table["start_ns"][0], table["bucket"][-1]) == (1000, 49)
    assert sum(table["duration_ns"]) == 1000


@pytest.mark.parametrize("order", [1, -1])
def test_buckets_count_from_the_first_of_their_own_level(order: int) -> None:
    """A process that begins inside a bucket begins the later in a level, the finer that is."""
    levels = {0: (5030, 10), 1: (5020, 20), 2: (5000, 40), 3: (4960, 80)}
    rows = [
        {"process_id": 0, "level": level, "start_ns": start + i * width, "bucket_ns": width,
         "operation": "a", "layer": "python", "duration_ns": width}
        for level, (start, width) in levels.items()
        for i in range(400 // width)
    ]  # fmt: skip
    trace = Relations(
        run=[{"start_ns": 5000, "end_ns": 6000}],
        process=[process(0, 5030, 5430)],
        timeline=rows[::order],
    )
    for most, level in ((40, 0), (20, 1), (10, 2), (5, 3)):
        count = 400 // levels[level][1]
        by_layer = buckets.timeline_layer(trace, buckets=most, processes=1)
        assert list(by_layer["bucket"]) == list(range(count))
        by_operation = buckets.timeline_operation(trace, buckets=most, processes=1, operations=1)
        assert list(by_operation["bucket"]) == list(range(count))


def test_a_timeline_by_operation_folds_the_small_ones() -> None:
    trace = Relations(process=[process(0, 5000, 6000)], timeline=_timeline([10]))
    table = buckets.timeline_operation(trace, buckets=60, processes=1, operations=1)
    totals = dict(zip(table["operation"], table["operation_ns"], strict=True))
    assert totals == {"a": 990, "(other operations)": 10}


def test_a_timeline_tells_start_up_and_end_from_pauses_of_the_loop() -> None:
    """The middle of a bucket decides."""
    rows = [{**row, "operation": "(none)"} for row in _timeline([10]) if row["operation"] == "a"]
    around = [
        share(0, "(none)", "python", 250, stage="start-up"),
        share(0, "update", "python", 540),
        share(0, "(none)", "python", 210, stage="end"),
    ]
    trace = Relations(process=[process(0, 5000, 6000)], timeline=rows, breakdown=around)
    table = buckets.timeline_operation(trace, buckets=60, processes=1, operations=9)
    places: dict[str, list[int]] = {}
    for name, bucket in table.select("operation", "bucket"):
        places.setdefault(name, []).append(bucket)
    assert places == {
        "(start-up)": [0, 1],
        "(between operations)": [2, 3, 4, 5, 6, 7],
        "(end)": [8, 9],
    }
    alone = Relations(process=[process(0, 5000, 6000)], timeline=rows)
    table = buckets.timeline_operation(alone, buckets=60, processes=1, operations=9)
    assert set(table["operation"]) == {"(none)"}


def test_children_stand_below_their_parent() -> None:
    trace = Relations(
        run=[{"start_ns": 0, "end_ns": 100}],
        process=[
            process(0, 0, 100),
            process(1, 5, 50),
            process(2, 10, 90, parent_process_id=0),
            process(3, 20, 30, parent_process_id=2),
            process(4, 3, 40, parent_process_id=0),
        ],
        breakdown=[share(2, "a", "python", 60), share(2, "(none)", "python", 20)],
    )
    table = processes.process_tree(trace, processes=10)
    assert list(zip(table["process_id"], table["depth"], strict=True)) == [
        (0, 0), (4, 1), (2, 1), (3, 2), (1, 0),
    ]  # fmt: skip
    assert table.to_dicts()[2]["busy_ns"] == 60
    assert table["children"][0] == 2


def test_a_process_without_its_parent_is_a_root() -> None:
    trace = Relations(
        process=[process(0, 0, 10), process(1, 0, 90, parent_process_id=0)],
    )
    table = processes.process_tree(trace, processes=1)
    assert (table["process_id"], table["depth"]) == ((1,), (0,))


def test_helpers_without_a_training_loop_have_no_row_and_no_bar() -> None:
    trace = Relations(
        run=[{"start_ns": 0, "end_ns": 100}],
        process=[
            process(0, 0, 100, role="main"),
            process(1, 5, 99, parent_process_id=0, role="helper", name="sh 0", cpu_ns=3),
            process(2, 6, 99, parent_process_id=1, role="helper", name="sh 1", cpu_ns=4),
            process(3, 7, 90, parent_process_id=2, role="worker"),
            process(4, 8, 90, parent_process_id=0, role="helper", name="ray (2)"),
            process(5, 9, 90, parent_process_id=0, role="helper", name="server"),
        ],
        breakdown=[
            share(0, "a", "python", 10),
            share(3, "a", "python", 20),
            share(4, "imports", "python", 40, stage="start-up"),
            share(5, "a", "python", 80),
        ],
    )
    table = processes.process_tree(trace, processes=10)
    assert list(zip(table["process_id"], table["depth"], strict=True)) == [(0, 0), (3, 1), (5, 1)]
    assert processes.helper_total(trace).to_dicts() == [
        {"family": "sh", "processes": 2, "cpu_ns": 7},
        {"family": "ray", "processes": 1, "cpu_ns": 0},
    ]
    rows = processes.role_time(trace, roles=9).to_dicts()
    assert [(row["role"], row["whole_ns"]) for row in rows] == [
        ("server", 110), ("p3", 110), ("p0", 110),
    ]  # fmt: skip


def test_a_child_of_a_shorter_process_that_is_left_out_is_a_root() -> None:
    trace = Relations(
        process=[
            process(0, 0, 100, role="main"),
            process(1, 0, 10, parent_process_id=0, role="program"),
            process(2, 0, 90, parent_process_id=1, role="worker"),
        ],
    )
    table = processes.process_tree(trace, processes=2)
    assert list(zip(table["process_id"], table["depth"], strict=True)) == [(0, 0), (2, 0)]


def test_roles_add_up_processes_whose_names_differ_in_their_number() -> None:
    names = ["w 0", "w 1", "w 1 (2)"]
    trace = Relations(
        process=[*(process(n, 0, 9, name=name) for n, name in enumerate(names)), process(3, 0, 1)],
        breakdown=[
            share(0, "a", "python", 1),
            share(1, "a", "python", 3),
            share(2, "a", "python", 5),
            share(3, "a", "none", 1),
        ],
    )
    rows = processes.role_time(trace, roles=1).to_dicts()
    assert [(r["role"], r["processes"], r["duration_ns"], r["whole_ns"]) for r in rows] == [
        ("w", 3, 9, 10), ("(other roles)", 1, 1, 10),
    ]  # fmt: skip


@pytest.mark.parametrize(("tried_ns", "shares"), [(10, {0, 1}), (9, {1})])
def test_a_process_that_tried_an_operation_is_in_no_share(tried_ns: int, shares: set[int]) -> None:
    trace = Relations(
        process=[process(0, 0, 2000), process(1, 0, 2000), process(2, 0, 3000, role="evaluator")],
        breakdown=[
            share(0, "a", "python", tried_ns),
            share(0, "(none)", "python", 900, stage="start-up"),
            share(1, "a", "python", 600),
            share(1, "b", "native", 400),
            share(2, "a", "python", 2500),
        ],
    )
    rows = trace.sql("SELECT DISTINCT process_id FROM training_loop")
    assert set(rows["process_id"]) == shares


_ONE_MORE = ("1 shorter process",)


@pytest.mark.parametrize(
    ("shown", "there", "helpers", "expected"),
    [
        (6, 6, [], []),
        (6, 7, [], [_ONE_MORE]),
        (
            1,
            6,
            [("ray idle worker", 3, 10**8), ("fork server", 1, 3 * 10**8)],
            [
                _ONE_MORE,
                ("4 helper processes", "400 ms", "3 x ray idle worker", "fork server"),
            ],
        ),
        (
            1,
            8,
            [(name, 1, 0) for name in "abcdefg"],
            [("7 helper processes", "0 ns", "a, b, c, d, e, 2 others")],
        ),
    ],
)
def test_processes_that_are_left_out_are_counted(
    shown: int, there: int, helpers: list[tuple[str, int, int]], expected: list[tuple[str, ...]]
) -> None:
    rows = [dict(zip(("family", "processes", "cpu_ns"), row, strict=True)) for row in helpers]
    said = process_sentences.left_out(shown, there, rows)
    for sentence, facts in zip(said, expected, strict=True):
        assert_says(sentence, *facts)


def test_samples_are_thinned_to_their_mean() -> None:
    samples = [
        {"host_id": 0, "start_ns": s * SECOND, "metric": "cpu_percent", "value": float(s % 2)}
        for s in range(1000)
    ]
    table = machine.machine_series(Relations(machine_sample=samples), points=10, processes=1)
    assert len(table) == 10
    assert set(table["mean"]) == {0.5}
    assert sum(table["readings"]) == 1000


def test_only_processes_with_gpu_work_have_busy_time() -> None:
    row = {"level": 0, "bucket_ns": 10, "operation": "a", "layer": "none"}
    trace = Relations(
        run=[{"start_ns": 100, "end_ns": 120}],
        process=[process(0, 100, 120), process(1, 100, 120)],
        breakdown=[share(0, "a", "none", 7, gpu_busy=True), share(1, "a", "none", 20)],
        timeline=[
            {**row, "process_id": 0, "start_ns": 100, "gpu_busy": True, "duration_ns": 7},
            {**row, "process_id": 0, "start_ns": 110, "gpu_busy": False, "duration_ns": 10},
            {**row, "process_id": 1, "start_ns": 100, "gpu_busy": False, "duration_ns": 10},
        ],
    )
    table = machine.gpu_busy_series(trace, buckets=100, processes=3)
    assert [(r["process_id"], r["start_ns"], r["busy_ns"]) for r in table.to_dicts()] == [
        (0, 0, 7), (0, 10, 0),
    ]  # fmt: skip


def test_coverage_counts_what_lies_outside() -> None:
    trace = Relations(
        process=[process(0, 0, 10, cpu_ns=8, profiler_cpu_ns=1, events=3), process(1, 0, 5)],
        breakdown=[
            share(0, "(none)", "python", 1, stage="start-up"),
            share(0, "import", "python", 1, stage="start-up"),
            share(0, "a", "python", 4, stage="loop"),
            share(0, "import", "python", 2, stage="warm-up"),
            share(0, "(none)", "python", 1, stage="end"),
            share(0, "(not recorded)", "none", 3, stage="end"),
            share(1, "(none)", "python", 5, stage="whole"),
        ],
        breakdown_by_thread=[
            {"process_id": 0, "thread_id": t, "operation": "a", "duration_ns": 1} for t in (0, 1)
        ],
    )
    (row,) = coverage.coverage(trace).to_dicts()
    assert (row["recorded_ns"], row["not_recorded_ns"]) == (14, 3)
    parts = ("startup_ns", "warmup_ns", "inside_ns", "between_ns", "end_ns", "span_ns")
    assert [row[part] for part in parts] == [2, 2, 4, 0, 1, 4]
    assert (row["processes"], row["looping_processes"], row["several_threads"]) == (2, 1, 1)
    assert (row["cpu_ns"], row["profiler_cpu_ns"]) == (8, 1)
    assert (row["drainer_cpu_ns"], row["tasks"]) == (None, 0)


def test_coverage_knows_the_price_and_the_tasks() -> None:
    trace = Relations(
        process=[
            process(0, 0, 10, cpu_ns=8, profiler_cpu_ns=0, events=5, operation_events=3),
            process(1, 0, 10, cpu_ns=8, events=4, operation_events=1, native_events=2),
        ],
        breakdown=[share(0, "a", "python", 10)],
        machine_sample=[
            {"metric": "drainer_cpu_ns", "value": 2.0},
            {"metric": "longest_stall_ns", "value": 4e6},
        ],
        metadata=[{"process_id": 0, "key": "asyncio", "value": '"at annotations"'}],
    )
    (row,) = coverage.coverage(trace).to_dicts()
    assert (row["drainer_cpu_ns"], row["tasks"]) == (2, 1)
    sentences = bookkeeping(row)
    assert sentences[0].startswith("Records: ")
    assert any("up to 4.00 ms" in sentence for sentence in coverage_sentences(row))
    assert (row["operation_events"], row["native_events"]) == (4, 2)
    assert "4 operations, 2 native calls. " in sentences[0]


def test_a_loss_that_never_happened_is_not_listed() -> None:
    losses = [
        {"process_id": 0, "kind": "ring_full", "count": 2},
        {"process_id": 1, "kind": "ring_full", "count": 3, "detail": "thread 7"},
        {"process_id": 1, "kind": "no_ring", "count": 0},
    ]
    (row,) = coverage.loss_summary(Relations(loss=losses), rows=5).to_dicts()
    assert (row["kind"], row["count"], row["processes"], row["detail"]) == (
        "ring_full", 5, 2, "thread 7",
    )  # fmt: skip
