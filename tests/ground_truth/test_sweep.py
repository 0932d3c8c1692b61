"""The C++ sweep, the brute-force twin and the SQL twin agree row by row, on every trace."""

from __future__ import annotations

from hypothesis import given

from ground_truth import brute, sql_twin
from ground_truth.compare import first_difference, without_moves
from ground_truth.profiles import PROFILE, share
from ground_truth.raw import RawProcess
from ground_truth.relations import RELATIONS
from ground_truth.strategies import processes
from ground_truth.swept import sweep


@PROFILE
@given(processes())
def test_sweep_equals_brute_force(process: RawProcess) -> None:
    found = without_moves(sweep(process), process)
    expected = without_moves(brute.tables(process), process)
    difference = first_difference(found, expected, RELATIONS)
    assert difference is None, f"sweep - / + brute force: {difference}"


# The SQL script takes about 130 ms a trace, most of it planning.
@share(0.25)
@given(processes())
def test_sql_equals_brute_force(process: RawProcess) -> None:
    found = sql_twin.tables(process)
    difference = first_difference(found, brute.tables(process), found)
    assert difference is None, f"SQL - / + brute force: {difference}"


@PROFILE
@given(processes())
def test_durations_add_up_to_the_lives_exactly(process: RawProcess) -> None:
    rows = sweep(process)
    windows = rows["window"]
    whole = max((w.start_ns + w.duration_ns for w in windows), default=0) - min(
        (w.start_ns for w in windows), default=0
    )
    assert sum(row.duration_ns for row in rows["breakdown"]) == whole
    for level in range(brute.LEVELS):
        buckets = [row for row in rows["timeline"] if row.level == level]
        assert sum(row.duration_ns for row in buckets) == whole
    for thread in rows["thread"]:
        own = [row for row in rows["breakdown_by_thread"] if row.thread == thread.thread]
        assert sum(row.duration_ns for row in own) == thread.end_ns - thread.start_ns
