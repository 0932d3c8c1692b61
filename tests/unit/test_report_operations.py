"""Time per operation, as charts and trees show it: scope, folding, sums."""

import itertools

import pytest
from support.files.facts import assert_says
from support.files.relation_rows import Relations, process, share
from support.files.report_rows import LAYERS

from rlscope.analysis import breakdown, operations, statement
from rlscope.relations.groups import group_of
from rlscope.report import loop_sentences


def _run() -> Relations:
    """A trainer with operations, and a launcher that only waits."""
    return Relations(
        process=[process(0, 0, 100), process(1, 10, 60)],
        operation=[
            {"operation_id": 0, "name": "train", "path": "train", "depth": 0},
            {
                "operation_id": 1,
                "parent_operation_id": 0,
                "name": "backprop",
                "path": "train/backprop",
                "depth": 1,
            },
            {"operation_id": 2, "name": "inference", "path": "inference", "depth": 0},
        ],
        breakdown=[
            share(0, "(none)", "none", 50),
            share(0, "(not recorded)", "none", 50),
            share(1, "train", "python", 5),
            share(1, "train/backprop", "framework", 20),
            share(1, "train/backprop", "none", 10, gpu_busy=True),
            share(1, "inference", "python", 8),
            share(1, "(none)", "python", 7),
        ],
    )


def test_all_processes_are_those_with_operations() -> None:
    table = operations.operation_time(_run(), operations=10, processes=2)
    whole = [row for row in table.to_dicts() if row["process_id"] is None]
    assert [(r["operation"], r["layer"], r["gpu_busy"], r["duration_ns"]) for r in whole] == [
        ("train/backprop", "framework", False, 20),
        ("train/backprop", "none", True, 10),
        ("inference", "python", False, 8),
        ("(between operations)", "python", False, 7),
        ("train", "python", False, 5),
    ]
    assert {row["group_ns"] for row in whole} == {50}
    assert whole[0]["operation_ns"] == 30


def test_a_process_with_operations_comes_before_a_longer_one_without() -> None:
    table = operations.operation_time(_run(), operations=10, processes=1)
    assert set(table["process_id"]) == {None, 1}


def test_time_between_windows_is_in_no_bar() -> None:
    table = operations.operation_time(_run(), operations=10, processes=2)
    launcher = [row for row in table.to_dicts() if row["process_id"] == 0]
    assert [(row["operation"], row["duration_ns"]) for row in launcher] == [("(none)", 50)]


def test_without_any_operation_every_process_counts() -> None:
    trace = Relations(
        process=[process(0, 0, 9), process(1, 0, 4)],
        breakdown=[share(0, "(none)", "python", 9), share(1, "(none)", "none", 4)],
    )
    table = operations.operation_time(trace, operations=10, processes=0)
    assert sum(table["duration_ns"]) == 13


def test_smaller_operations_are_folded_and_nothing_is_lost() -> None:
    trace = Relations(
        process=[process(0, 0, 5050)],
        breakdown=[share(0, f"op{i}", "python", i) for i in range(1, 101)],
    )
    table = operations.operation_time(trace, operations=3, processes=0)
    rows = dict(zip(table["operation"], table["duration_ns"], strict=True))
    assert rows == {"op100": 100, "op99": 99, "op98": 98, "(other operations)": 5050 - 297}


def test_an_unknown_gpu_state_is_a_state_and_no_layer_beside_gpu_work() -> None:
    trace = Relations(
        process=[process(0, 0, 3)], breakdown=[share(0, "a", "python", 3, gpu_busy=None)]
    )
    table = operations.operation_time(trace, operations=3, processes=0)
    assert table.to_dicts()[0]["gpu_busy"] is False
    states = operations.state_time(trace, operations=3, processes=0)["state"]
    assert states == ("unknown", "unknown")


def test_states_follow_layer_and_gpu() -> None:
    trace = Relations(
        process=[process(0, 0, 63)],
        breakdown=[
            share(0, "a", "python", 1),
            share(0, "a", "cuda_api", 2, gpu_busy=True),
            share(0, "a", "none", 4, gpu_busy=True),
            share(0, "a", "none", 8),
            share(0, "a", "wait", 16),
            share(0, "a", "wait", 32, gpu_busy=True),
        ],
    )
    states = {"cpu": 1, "cpu+gpu": 2, "gpu": 4 + 32, "idle": 8, "waiting": 16}
    table = operations.state_time(trace, operations=3, processes=0)
    total = {r["state"]: r["duration_ns"] for r in table.to_dicts() if r["operation"] is None}
    assert total == states
    assert set(table["group_ns"]) == {63}
    assert dict(breakdown(trace, by=["state"]).select("state", "duration_ns")) == states


def test_a_tree_has_a_column_for_each_layer() -> None:
    lengths = {layer: 1 << place for place, layer in enumerate(LAYERS)}
    trace = Relations(
        process=[process(0, 0, 63)],
        operation=[{"operation_id": 0, "name": "a", "path": "a", "depth": 0, "source": "explicit"}],
        breakdown=[share(0, "a", layer, ns) for layer, ns in lengths.items()],
    )
    (row,) = operations.operation_tree(trace, operations=1).to_dicts()
    assert {layer: row[f"{layer}_ns"] for layer in LAYERS} == lengths
    assert row["self_ns"] == sum(lengths.values())


def test_a_tree_adds_children_to_their_parents() -> None:
    table = operations.operation_tree(_run(), operations=10)
    assert [
        (r["operation"], r["depth"], r["self_ns"], r["total_ns"]) for r in table.to_dicts()
    ] == [
        ("train", 0, 5, 35),
        ("train/backprop", 1, 30, 30),
        ("inference", 0, 8, 8),
        ("(between operations)", 0, 7, 7),
    ]
    assert set(table["whole_ns"]) == {50}
    backprop = table.to_dicts()[1]
    assert (backprop["framework_ns"], backprop["none_ns"], backprop["gpu_ns"]) == (20, 10, 10)


def test_the_largest_paths_of_a_tree_keep_their_place() -> None:
    table = operations.operation_tree(_run(), operations=2)
    assert table["operation"] == (
        "train",
        "train/backprop",
        "(1 more operation)",
        "(between operations)",
    )
    assert table["total_ns"] == (35, 30, 8, 7)


def _flat(*lengths: int) -> Relations:
    """Outermost operations op0, op1, ... of these lengths."""
    names = [f"op{number}" for number in range(len(lengths))]
    return Relations(
        process=[process(0, 0, sum(lengths))],
        operation=[
            {"operation_id": number, "name": name, "path": name, "depth": 0}
            for number, name in enumerate(names)
        ],
        breakdown=[
            share(0, name, layer, ns // 2)
            for name, ns in zip(names, lengths, strict=True)
            for layer in ("python", "framework")
        ],
    )


def test_an_operation_of_a_hundredth_has_a_row_and_the_others_one_together() -> None:
    tree = operations.operation_tree(_flat(600, 320, 40, 20, 12, 8), operations=2, most=10)
    assert list(tree.select("operation", "total_ns", "self_ns", "python_ns", "framework_ns")) == [
        ("op0", 600, 600, 300, 300),
        ("op1", 320, 320, 160, 160),
        ("op2", 40, 40, 20, 20),
        ("op3", 20, 20, 10, 10),
        ("op4", 12, 12, 6, 6),
        ("(1 more operation)", 8, 8, 4, 4),
    ]
    assert set(tree["whole_ns"]) == {1000}


def test_a_tree_of_many_equal_operations_has_so_many_rows_at_most_and_adds_up() -> None:
    tree = operations.operation_tree(_flat(*[40] * 25), operations=2, most=10)
    assert tree["operation"][-1] == "(15 more operations)"
    assert (len(tree), sum(tree["total_ns"])) == (11, 1000)


def test_the_last_operation_has_its_own_row_where_there_is_room() -> None:
    tree = operations.operation_tree(_flat(600, 396, 4), operations=2, most=10)
    assert tree["operation"] == ("op0", "op1", "op2")


def test_what_is_left_out_inside_an_operation_is_counted_there_with_all_inside_of_it() -> None:
    parents = {"train": None, "train/a": 0, "train/b": 0, "train/b/c": 2}
    trace = Relations(
        process=[process(0, 0, 100)],
        operation=[
            {
                "operation_id": number,
                "parent_operation_id": parent,
                "name": path.rpartition("/")[2],
                "path": path,
                "depth": path.count("/"),
            }
            for number, (path, parent) in enumerate(parents.items())
        ],
        breakdown=[
            share(0, "train", "python", 10),
            share(0, "train/a", "python", 60),
            share(0, "train/b", "python", 10),
            share(0, "train/b/c", "framework", 20),
        ],
    )
    tree = operations.operation_tree(trace, operations=2)
    assert list(tree.select("name", "depth", "total_ns", "python_ns", "framework_ns")) == [
        ("train", 0, 100, 10, 0),
        ("a", 1, 60, 60, 0),
        ("(1 more operation)", 1, 30, 10, 20),
    ]


def test_five_thousand_nested_paths_are_a_tree() -> None:
    paths = ["op0"]
    for number in range(1, 5000):
        paths.append(f"{paths[number // 2]}/op{number}")
    trace = Relations(
        process=[process(0, 0, 5000)],
        operation=[
            {
                "operation_id": number,
                "parent_operation_id": number // 2 if number else None,
                "name": f"op{number}",
                "path": path,
                "depth": path.count("/"),
            }
            for number, path in enumerate(paths)
        ],
        breakdown=[share(0, path, "python", 1) for path in paths],
    )
    table = operations.operation_tree(trace, operations=60)
    assert table["operation"][0] == "op0"
    assert table["total_ns"][0] == 5000
    assert sum("more operation" not in name for name in table["name"]) == 60


def test_the_time_of_the_loop_of_each_process_is_exact_with_its_interval() -> None:
    ends = {"corrected_ns": 15, "corrected_low_ns": 12, "corrected_high_ns": 18}
    trace = Relations(
        process=[process(1, 0, 40), process(2, 0, 9)],
        operation=[{"operation_id": 0, "name": "x", "path": "x", "depth": 0}],
        breakdown=[
            {**share(1, "x", "python", 20), **ends},
            {**share(1, "x", "python", 20), "phase": "late", **ends},
            {**share(1, "x", "framework", 4), **ends},
            {**share(1, "x", "framework", 3), "phase": "late"},
            {**share(2, "x", "python", 9), **ends},
        ],
    )
    assert operations.loop_time(trace).to_dicts() == [
        {
            "process_id": 1,
            "operation": "x",
            "layer": "python",
            "gpu_busy": False,
            "duration_ns": 40,
            "corrected_ns": 30,
            "corrected_low_ns": 24,
            "corrected_high_ns": 36,
        },
        {
            "process_id": 1,
            "operation": "x",
            "layer": "framework",
            "gpu_busy": False,
            "duration_ns": 7,
            "corrected_ns": None,
            "corrected_low_ns": None,
            "corrected_high_ns": None,
        },
        {
            "process_id": 2,
            "operation": "x",
            "layer": "python",
            "gpu_busy": False,
            "duration_ns": 9,
            **ends,
        },
    ]


def test_what_lies_around_a_gap_of_records_that_were_rolled_up_is_not_known() -> None:
    """The other process has all of its own."""
    spans = [(0, 0, 0, 40), (0, 1, 60, 40), (1, 0, 0, 10), (1, 1, 15, 85)]
    trace = Relations(
        process=[process(0, 0, 100), process(1, 0, 100)],
        loss=[{"process_id": 0, "kind": "rolled_up", "count": 1, "duration_ns": 50}],
        operation=[
            {"operation_id": i, "name": name, "path": name, "depth": 0}
            for i, name in enumerate(("act", "learn"))
        ],
        operation_instance=[
            {"process_id": p, "operation_id": i, "start_ns": start, "duration_ns": ns}
            for p, i, start, ns in spans
        ],
        breakdown=[
            share(0, "act", "python", 80),
            share(0, "(none)", "python", 20),
            share(1, "act", "python", 95),
            share(1, "(none)", "python", 5),
        ],
    )
    rows = operations.between_operations(trace, rows=9).to_dicts()
    assert [(row["before"], row["after"], row["why"], row["duration_ns"]) for row in rows] == [
        ("act", "learn", None, 5),
        (None, None, "rolled up", 20),
    ]
    assert {row["between_ns"] for row in rows} == {25}
    assert_says(loop_sentences.pauses(rows), "act to learn 5 ns in 1 pause", "20 ns", "rolled up")


def test_a_deep_recursion_is_added_up_in_one_pass() -> None:
    """SQL has one row per path, not one per path and path around it."""
    depth = 3_000
    names = ["select" if number % 2 else "expand" for number in range(depth)]
    paths = list(itertools.accumulate(names, lambda path, name: f"{path}/{name}"))
    trace = Relations(
        process=[process(0, 0, depth)],
        operation=[
            {"operation_id": number, "parent_operation_id": number - 1 if number else None}
            | {"name": names[number], "path": path, "depth": number, "source": "explicit"}
            for number, path in enumerate(paths)
        ],
        breakdown=[share(0, path, "python", 1) for path in paths],
    )
    assert len(statement.run(trace, "operation_tree")) == depth  # type: ignore[arg-type]
    table = operations.operation_tree(trace, operations=depth)  # type: ignore[arg-type]
    assert table["total_ns"] == tuple(range(depth, 0, -1))
    assert table["operation"] == tuple(paths)


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("a/Inference:3/forward", "inference"),
        ("a\\/forward", "a\\/forward"),
        ("a\\/b/backprop", "learning"),
        ("evaluation/a\\\\/x", "evaluation"),
    ],
)
def test_a_group_is_that_of_the_names_between_slashes(path: str, group: str) -> None:
    assert group_of(path) == group
