"""RL-Scope's own acceptance cases: T1 to T6 for overlap, T7, T9a and T10 for the operation stack.

Inputs and results are facts of the upstream tests; times there are seconds, here nanoseconds
(halves become whole numbers by doubling).
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from ground_truth.raw import RawProcess, RawThread, enter, leave
from ground_truth.swept import sweep

from rlscope.analysis.overlap import overlap

A = [(3, 7), (8, 10)]
B = [(1, 4), (6, 9)]
C = [(2, 5), (7, 8), (11, 12)]


def rows(table):
    return [(" ".join(names), *rest) for names, *rest in table]


def durations(table):
    return {" ".join(names): duration for names, duration, *_ in table}


def test_t1_complete():
    assert rows(overlap({"A": A, "B": B, "C": C})) == [
        ("A", 2, 5, 10),
        ("B", 1, 1, 2),
        ("C", 1, 11, 12),
        ("A B", 2, 6, 9),
        ("A C", 1, 4, 5),
        ("B C", 2, 2, 8),
        ("A B C", 1, 3, 4),
    ]


def test_t1_in_any_order():
    streams = {"A": A[::-1], "B": B[::-1], "C": [C[2], C[0], C[1]]}
    assert overlap(streams) == overlap({"A": A, "B": B, "C": C})


# T2: the same, each stream recorded by two threads; in half seconds.
THREADS = {
    "c1": [(6, 8), (16, 20), (7, 14)],
    "c2": [(2, 8), (12, 18)],
    "c3": [(4, 6), (8, 10), (14, 16), (6, 8), (22, 24)],
}


def test_t2_threads_of_one_stream_are_merged():
    assert durations(overlap(THREADS)) == {
        "c1": 4, "c2": 2, "c3": 2, "c1 c2": 4, "c1 c3": 2, "c2 c3": 4, "c1 c2 c3": 2,
    }  # fmt: skip


def test_t3_only_sets_that_contain_a_stream():
    kept = durations(overlap(THREADS, containing="c1"))
    assert kept == {"c1": 4, "c1 c2": 4, "c1 c3": 2, "c1 c2 c3": 2}


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([(3, 5), (4, 6)], 3),  # T4: partial self-overlap
        ([(3, 6), (4, 5)], 3),  # T4b: contained
        ([(3, 6), (3, 6)], 3),  # T4b: twice the same
        ([(3, 6), (2, 5)], 4),  # T4b: not sorted
    ],
)
def test_t4_self_overlap_counts_once(intervals, expected):
    assert durations(overlap({"c1": intervals})) == {"c1": expected}


OVERLAPPING = [(2, 12), (4, 12), (6, 14), (8, 12)]  # T5 and T6, in half seconds


def test_t5_self_overlap_beside_another_stream():
    assert durations(overlap({"c1": OVERLAPPING, "c2": [(8, 10)]})) == {"c1": 10, "c1 c2": 2}


def test_t6_self_overlap_in_two_streams():
    c2 = [(8, 9), (9, 10), (10, 18), (10, 16)]
    assert durations(overlap({"c1": OVERLAPPING, "c2": c2, "c3": [(10, 18)]})) == {
        "c1": 6, "c1 c2": 2, "c1 c2 c3": 4, "c2 c3": 4,
    }  # fmt: skip


def test_any_number_of_streams():
    streams = {f"worker {n}": [(n, 200)] for n in range(100)}
    table = overlap(streams)
    assert [len(names) for names in table["set"]] == list(range(1, 101))
    assert table["duration_ns"] == (*[1] * 99, 101)


def test_nothing_is_no_row_and_empty_intervals_are_nothing():
    assert len(overlap({})) == 0
    assert len(overlap({"a": [], "b": [(5, 5)]})) == 0


def test_an_interval_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError, match="ends before it starts: 5, 4"):
        overlap({"a": [(5, 4)]})


def test_an_unknown_stream_is_refused():
    with pytest.raises(ValueError, match="no stream 'b'; there are: a"):
        overlap({"a": [(1, 2)]}, containing="b")


# ---- the operation stack ----------------------------------------------------------------------


def owners(*items, end):
    """The owner of the time: (start, operation) of each nanosecond-wide bucket that begins anew."""
    process = RawProcess(end_ns=max(end, 1), threads=(RawThread(items=items),))
    finest = [row for row in sweep(process, buckets=end)["timeline"] if row.level == 0]
    assert {row.bucket_ns for row in finest} == {1}
    named = [(row.start_ns, row.operation.rpartition("/")[2]) for row in sorted(finest)]
    return [row for before, row in pairwise([(-1, ""), *named]) if before[1] != row[1]]


def test_t7a_inside():
    items = [enter(0, "B"), enter(1, "A"), leave(2, "A"), leave(3, "B")]
    assert owners(*items, end=3) == [(0, "B"), (1, "A"), (2, "B")]


def test_t7b_same_start():
    items = [enter(0, "B"), enter(0, "A"), leave(1, "A"), leave(3, "B")]
    assert owners(*items, end=3) == [(0, "A"), (1, "B")]


def test_t7c_same_end():
    items = [enter(0, "B"), enter(2, "A"), leave(3, "A"), leave(3, "B")]
    assert owners(*items, end=3) == [(0, "B"), (2, "A")]


def two_children(at):
    times = [(0, enter, "B"), (1, enter, "A"), (2, leave, "A")]
    times += [(3, enter, "A"), (4, leave, "A"), (5, leave, "B")]
    return [make(at + time, name) for time, make, name in times]


def test_t7d_two_children_twice_with_a_gap_between():
    assert owners(*two_children(0), *two_children(6), end=11) == [
        (0, "B"), (1, "A"), (2, "B"), (3, "A"), (4, "B"), (5, "(none)"),
        (6, "B"), (7, "A"), (8, "B"), (9, "A"), (10, "B"),
    ]  # fmt: skip


def test_t9a_three_levels():
    items = [enter(0, "op1"), enter(1, "op2"), enter(2, "op3")]
    items += [leave(3, "op3"), leave(4, "op2"), leave(5, "op1")]
    assert owners(*items, end=5) == [
        (0, "op1"), (1, "op2"), (2, "op3"), (3, "op2"), (4, "op1"),
    ]  # fmt: skip


def test_t10_real_trace():
    start, inner = 1_551_209_039_576_428_000, 1_551_209_039_576_444_000
    end, inner_end = start + 1_180_757_000, inner + 1_178_289_000
    items = [
        enter(start, "train_loop"),
        enter(inner, "q_forward"),
        leave(inner_end, "q_forward"),
        leave(end, "train_loop"),
    ]
    process = RawProcess(start_ns=start, end_ns=end, threads=(RawThread(items=items),))
    found = {row.operation: (row.duration_ns, row.count) for row in sweep(process)["breakdown"]}
    assert inner - start == 16_000 and end - inner_end == 2_452_000
    assert found == {
        "train_loop": (16_000 + 2_452_000, 2),
        "train_loop/q_forward": (1_178_289_000, 1),
    }
