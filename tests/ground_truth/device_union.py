"""The twins of the union of GPU work over processes (semantics.md, GPU): one counts nanosecond by
nanosecond, the other joins elementary segments in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb

from ground_truth.raw import Gpu, GpuWork, RawProcess
from ground_truth.rules import Rules
from ground_truth.streams import Span, put_in_order

Buckets = dict[int, int]
"""Start of a bucket -> busy nanoseconds in it, without those of 0."""

NO_WORK = (Gpu.SYNC, Gpu.OVERHEAD)


@dataclass(frozen=True)
class UnionRules:
    """As ground_truth.rules: the first value is right."""

    processes: Literal["union", "sum"] = "union"
    windows: Literal["each process's own", "none", "of the first process"] = "each process's own"
    kinds: Literal["work", "all"] = "work"
    devices: Literal["apart", "together"] = "apart"
    measured: Literal["spans", "first to last"] = "spans"


RIGHT = UnionRules()


def windows_of(process: RawProcess) -> list[Span]:
    return list(put_in_order(process, Rules()).windows)


def counted(processes: Sequence[RawProcess], device: int, rules: UnionRules = RIGHT) -> list[int]:
    """Every nanosecond in which the device was busy; those of several processes once."""
    found: list[int] = []
    for process in processes:
        windows = windows_of(processes[0] if rules.windows == "of the first process" else process)
        works = [work for work in process.gpu if _is_meant(work, device, rules)]
        busy = {time for work in works for time in range(work.start_ns, work.end_ns)}
        if rules.windows != "none":
            busy = {time for time in busy if any(start <= time < end for start, end in windows)}
        found += sorted(busy)
    return sorted(set(found)) if rules.processes == "union" else found


def _is_meant(work: GpuWork, device: int, rules: UnionRules) -> bool:
    on_device = work.device == device or rules.devices == "together"
    return on_device and (work.kind not in NO_WORK or rules.kinds == "all")


def by_bucket(times: Sequence[int], origin: int, bucket_ns: int) -> Buckets:
    starts = [origin + (time - origin) // bucket_ns * bucket_ns for time in times]
    return {start: starts.count(start) for start in sorted(set(starts))}


def within(times: Sequence[int], spans: Sequence[Span], rules: UnionRules = RIGHT) -> int:
    """How many of the nanoseconds lie in the spans."""
    if rules.measured == "first to last":
        spans = [(spans[0][0], spans[-1][1])] if spans else []
    return sum(any(start <= time < end for start, end in spans) for time in times)


_BUSY = """
WITH cut AS (
    SELECT start_ns AS time_ns FROM work UNION SELECT end_ns FROM work
    UNION SELECT start_ns FROM win UNION SELECT end_ns FROM win
    UNION SELECT start_ns FROM span UNION SELECT end_ns FROM span
    UNION SELECT origin + UNNEST(generate_series(0, buckets)) * bucket_ns FROM grid
), segment AS (
    SELECT time_ns AS start_ns, LEAD(time_ns) OVER (ORDER BY time_ns) AS end_ns FROM cut
), busy AS (
    SELECT * FROM segment AS s WHERE EXISTS (
        SELECT 1 FROM work JOIN win USING (process)
        WHERE work.start_ns <= s.start_ns AND work.end_ns >= s.end_ns
          AND win.start_ns <= s.start_ns AND win.end_ns >= s.end_ns)
)
"""
_BY_BUCKET = """
SELECT origin + (start_ns - origin) // bucket_ns * bucket_ns AS bucket, SUM(end_ns - start_ns)
FROM busy, grid GROUP BY bucket ORDER BY bucket
"""
_WITHIN = """
SELECT COALESCE(SUM(busy.end_ns - busy.start_ns), 0)
FROM busy JOIN span ON span.start_ns <= busy.start_ns AND span.end_ns >= busy.end_ns
"""


def in_sql(
    processes: Sequence[RawProcess],
    device: int,
    *,
    grid: tuple[int, int, int],
    spans: Sequence[Span] = (),
) -> tuple[Buckets, int]:
    """By bucket and within spans, by elementary segments that lie in some work and window of one
    process. `grid`: origin, length of a bucket, number of buckets."""
    work = [
        (number, each.start_ns, each.end_ns)
        for number, process in enumerate(processes)
        for each in process.gpu
        if each.device == device and each.kind not in NO_WORK
    ]
    windows = [(n, *window) for n, each in enumerate(processes) for window in windows_of(each)]
    tables = {"work": work, "win": windows, "span": [(None, *span) for span in spans]}
    with duckdb.connect(":memory:") as connection:
        for table, rows in tables.items():
            connection.execute(f"CREATE TABLE {table} (process INT, start_ns INT, end_ns INT)")
            if rows:
                connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
        connection.execute("CREATE TABLE grid (origin INT, bucket_ns INT, buckets INT)")
        connection.execute("INSERT INTO grid VALUES (?, ?, ?)", grid)
        buckets = connection.execute(_BUSY + _BY_BUCKET).fetchall()
        ((within_ns,),) = connection.execute(_BUSY + _WITHIN).fetchall()
    return {bucket: int(busy) for bucket, busy in buckets}, int(within_ns)
