"""Iterations: each one's length, median, p95 and drift, and what one costs in each operation."""

from __future__ import annotations

import pytest
from support.files.facts import assert_says
from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units

# A tenth of n iterations is n / 10 of them, one more in the first tenths where that is not whole.
_SUMMARY = """
WITH _length AS (SELECT iteration, duration_ns FROM iteration WHERE complete),
  _first AS (FROM _length ORDER BY iteration
    LIMIT (SELECT CAST(CEIL(COUNT(*) / 10) AS BIGINT) FROM _length)),
  _last AS (FROM _length ORDER BY iteration DESC
    LIMIT (SELECT CAST(FLOOR(COUNT(*) / 10) AS BIGINT) FROM _length))
SELECT MEDIAN(duration_ns), QUANTILE_CONT(duration_ns, 0.95), MIN(duration_ns), MAX(duration_ns),
  (SELECT MEDIAN(duration_ns) FROM _first), (SELECT MEDIAN(duration_ns) FROM _last)
FROM _length
"""


def check(page: ReportPage, trace: Trace) -> None:
    rows = trace.sql(
        "SELECT iteration, duration_ns FROM iteration WHERE complete ORDER BY iteration"
    )
    numbers, lengths = list(rows["iteration"]), list(rows["duration_ns"])
    ((median, p95, low, high, first, last),) = trace.sql(_SUMMARY)
    divisor, _ = units.axis_unit(max(lengths))
    expected = {
        "duration": (numbers, lengths),
        "median": ([numbers[0], numbers[-1]], [median] * 2),
        "p95": ([numbers[0], numbers[-1]], [p95] * 2),
    }
    lines = page.lines("iterations-chart")
    assert set(lines) == set(expected)
    for name, (x, y_ns) in expected.items():
        assert lines[name].x == x
        assert lines[name].y == pytest.approx([ns / divisor for ns in y_ns], rel=1e-6)
    (note,) = page.notes("iterations")
    drift = [
        *("drift", f"{100 * (last / first - 1):+.1f} %"),
        *("first tenth", units.duration(first), "last", units.duration(last)),
    ]
    assert_says(
        note,
        *("trainer", f"{len(lengths)} iterations"),
        *(f"median {units.duration(median)}", f"p95 {units.duration(p95)}"),
        f"range {units.duration(low)} to {units.duration(high)}",
        *(drift if len(lengths) >= 200 else []),
    )
    costs = page.table("iterations", "Table: what an iteration of trainer")
    assert sorted(costs) == sorted(_costs(trace, len(lengths)))


def _costs(trace: Trace, iterations: int) -> list[list[str]]:
    """Costs of an operation in the iterations that enter it; the mean is over all of them."""
    rows = trace.sql(
        "SELECT path, SUM(entries), SUM(self_ns), MEDIAN(self_ns), QUANTILE_CONT(self_ns, 0.95)"
        " FROM (SELECT path, iteration, COUNT(*) AS entries, SUM(self_ns) AS self_ns"
        "   FROM operation_instance JOIN operation USING (operation_id)"
        "   JOIN (FROM iteration WHERE complete) USING (process_id, iteration) GROUP BY ALL)"
        " GROUP BY path"
    )
    between = trace.sql(
        "SELECT '(between operations)', NULL, SUM(ns), MEDIAN(ns), QUANTILE_CONT(ns, 0.95)"
        " FROM (SELECT iteration, SUM(duration_ns) AS ns FROM iteration_breakdown"
        "   WHERE complete AND operation = '(none)' GROUP BY iteration)"
        " HAVING COUNT(*) > 0"
    )
    return [
        [
            path,
            f"{entries / iterations:,.1f}" if entries else "",
            units.duration(ns / iterations),
            units.duration(median),
            units.duration(p95),
        ]
        for path, entries, ns, median, p95 in (*rows, *between)
    ]
