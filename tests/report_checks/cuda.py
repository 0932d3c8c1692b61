"""CUDA: GPU time per operation, kernels, copies, synchronisation."""

from __future__ import annotations

from support.files.facts import assert_says
from support.files.report_page import OPERATION, ReportPage

from rlscope.opening import Trace
from rlscope.report import units

_BY_OPERATION = f"""
SELECT {OPERATION} AS operation,
  CAST(SUM(launched) AS BIGINT), CAST(SUM(ran) AS BIGINT),
  CAST(SUM(launches) AS BIGINT), CAST(SUM(bound) AS BIGINT), CAST(SUM(called) AS BIGINT),
  CAST(SUM(waited) AS BIGINT)
FROM (
  SELECT operation, launched_ns AS launched, while_ns AS ran, 0 AS launches, 0 AS bound,
    0 AS called, 0 AS waited FROM gpu_time
  UNION ALL SELECT operation, 0, 0, count, launch_bound, 0, 0 FROM kernel
  UNION ALL SELECT operation, 0, 0, 0, 0, duration_ns, 0 FROM api_call
  UNION ALL SELECT operation, 0, 0, 0, 0, 0, waiting_ns FROM sync)
GROUP BY operation
"""


def check(page: ReportPage, trace: Trace) -> None:
    _check_notes(*page.notes("cuda"), trace=trace)
    assert page.bars("cuda-chart") == device_times(trace, "launched_ns")
    kernels = trace.sql(
        "SELECT function, CAST(SUM(duration_ns) AS BIGINT) AS ns FROM kernel GROUP BY ALL"
    )
    assert page.bars("kernel-chart") == {
        ("kernels", units.kernel(function)): ns for function, ns in kernels
    }
    operations = [_operation(*row) for row in trace.sql(_BY_OPERATION)]
    assert sorted(page.table("cuda", "Table: GPU time")) == sorted(operations)
    assert sorted(page.table("cuda", "Table: the kernels")) == sorted(_kernels(trace))
    assert page.table("cuda", "Table: copies") == _copies(trace)
    assert page.table("cuda", "Table: synchronisation") == _syncs(trace)


def device_times(trace: Trace, column: str) -> dict[tuple[str, str], int]:
    """(GPU, operation) -> ns in one column of gpu_time."""
    rows = trace.sql(
        f"SELECT gpu, {OPERATION} AS operation,"
        f" CAST(SUM({column}) AS BIGINT) AS ns FROM gpu_time"
        f" GROUP BY ALL HAVING ns > 0"
    )
    return {(f"GPU {gpu}", operation): ns for gpu, operation, ns in rows}


def _check_notes(totals: str, unlinked: str, *, trace: Trace) -> None:
    ((gpu_ns, calls, api_ns, launches, bound, without_launch),) = trace.sql(
        "SELECT (SELECT CAST(SUM(while_ns) AS BIGINT) FROM gpu_time),"
        " (SELECT CAST(SUM(calls) AS BIGINT) FROM api_call),"
        " (SELECT CAST(SUM(duration_ns) AS BIGINT) FROM api_call),"
        " (SELECT CAST(SUM(count) AS BIGINT) FROM kernel WHERE operation <> '(unlinked)'),"
        " (SELECT CAST(SUM(launch_bound) AS BIGINT) FROM kernel),"
        " (SELECT CAST(SUM(count) AS BIGINT) FROM kernel WHERE operation = '(unlinked)')"
    )
    assert_says(
        totals,
        *("GPU time", units.duration(gpu_ns)),
        *(f"{units.count(calls)} CUDA calls", units.duration(api_ns)),
        *(f"{units.share(bound, launches)} of {units.count(launches)} launches", "launch-bound"),
    )
    assert_says(unlinked, units.plural(without_launch, "piece"), "no launch", "(unlinked)")


def _operation(
    name: str, launched: int, ran: int, launches: int, bound: int, called: int, waited: int
) -> list[str]:
    return [
        name,
        units.duration_or_blank(launched),
        units.duration_or_blank(ran),
        units.count(launches),
        units.share(bound, launches),
        units.duration_or_blank(called),
        units.duration_or_blank(waited),
    ]


def _kernels(trace: Trace) -> list[list[str]]:
    """Each operation of the run launches one kernel, so that has all of its kernel time."""
    rows = trace.sql(
        "SELECT operation, function, CAST(SUM(count) AS BIGINT), CAST(SUM(duration_ns) AS BIGINT),"
        " MIN(min_ns), MAX(max_ns), CAST(SUM(launch_bound) AS BIGINT) FROM kernel GROUP BY ALL"
    )
    return [
        [
            operation,
            units.kernel(function),
            units.count(launches),
            units.duration(ns),
            "100.0 %",
            units.duration(ns / launches),
            units.duration(shortest),
            units.duration(longest),
            units.share(bound, launches),
        ]
        for operation, function, launches, ns, shortest, longest, bound in rows
    ]


def _copies(trace: Trace) -> list[list[str]]:
    rows = trace.sql(
        "SELECT direction, memory, CAST(SUM(count) AS BIGINT), CAST(SUM(bytes) AS BIGINT),"
        " CAST(SUM(duration_ns) AS BIGINT) FROM memcpy GROUP BY ALL"
    )
    return [
        [
            direction.replace("_", " "),
            memory,
            units.count(copies),
            units.size(size),
            units.duration(ns),
            f"{units.size(size / (ns / 1e9))}/s",
        ]
        for direction, memory, copies, size, ns in rows
    ]


def _syncs(trace: Trace) -> list[list[str]]:
    rows = trace.sql(
        "SELECT operation, kind, CAST(SUM(count) AS BIGINT), CAST(SUM(duration_ns) AS BIGINT),"
        " CAST(SUM(waiting_ns) AS BIGINT) FROM sync GROUP BY ALL"
    )
    return [
        [
            operation,
            kind,
            units.count(calls),
            units.duration(ns),
            units.duration(waited),
            units.share(waited, ns),
        ]
        for operation, kind, calls, ns, waited in rows
    ]
