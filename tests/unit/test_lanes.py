"""Lanes of a track (csrc/exporters/lanes.h), and what the Perfetto encoder refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope import _trace

Interval = tuple[int, int]

intervals = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 6)).map(lambda drawn: (drawn[0], sum(drawn)))
).map(lambda drawn: sorted(drawn, key=lambda each: (each[0], -each[1])))


def lanes_of(lanes: _trace.Lanes, tracks: list[int], drawn: list[Interval]) -> list[int]:
    columns = (tracks, [start for start, _ in drawn], [end for _, end in drawn])
    return lanes.add(*(np.array(column, dtype=np.int64) for column in columns)).tolist()


def overlap_in_part(one: Interval, other: Interval) -> bool:
    """`one` begins first, or is around."""
    return one[0] <= other[0] < one[1] < other[1]


def first_free(drawn: list[Interval]) -> list[int]:
    """The brute-force twin: the lowest lane in which it overlaps no other one in part."""
    found: list[int] = []
    for number, interval in enumerate(drawn):
        before = [*zip(found, drawn[:number], strict=True)]
        lane = 0
        while any(lane == used and overlap_in_part(other, interval) for used, other in before):
            lane += 1
        found.append(lane)
    return found


@given(intervals, st.integers(0, 8))
def test_an_interval_is_in_the_first_lane_where_it_nests(drawn: list[Interval], cut: int) -> None:
    """In however many calls they come."""
    lanes = _trace.Lanes()
    parts = (drawn[:cut], drawn[cut:])
    found = [lane for part in parts for lane in lanes_of(lanes, [0] * len(part), part)]
    assert found == first_free(drawn)


@given(intervals, intervals)
def test_each_track_begins_anew(first: list[Interval], second: list[Interval]) -> None:
    tracks = [3] * len(first) + [4] * len(second)
    assert lanes_of(_trace.Lanes(), tracks, first + second) == [
        *first_free(first),
        *first_free(second),
    ]


def test_columns_of_other_lengths_are_refused() -> None:
    one, two = np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="columns differ in length"):
        _trace.Lanes().add(two, two, one)


def encode(starts: list[int], name: int = 0) -> bytes:
    encoder = _trace.PerfettoEncoder(10, categories=["call"], names=["f"], operations=[])
    track = encoder.track(0, "a track", 0)
    times = np.array(starts, dtype=np.int64)
    same, none = np.full_like(times, track), np.full_like(times, -1)
    encoder.slices(
        same,
        starts_ns=times,
        ends_ns=times,
        categories=np.zeros_like(times),
        names=np.full_like(times, name),
        flows=np.zeros_like(times),
        operations=none,
        correlations=none,
        bytes=none,
        graphs=none,
        whole_starts_ns=times,
        whole_ends_ns=times,
    )
    encoder.finish()
    return encoder.take()


@pytest.mark.parametrize("starts", [[9], [20, 19]])
def test_times_that_go_back_are_refused(starts: list[int]) -> None:
    assert encode([20, 21])
    with pytest.raises(ValueError, match="times go back"):
        encode(starts)


def test_a_text_that_is_not_there_is_refused() -> None:
    with pytest.raises(IndexError):
        encode([20], name=1)
