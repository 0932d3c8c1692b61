"""Blocked native code: the largest operation, with sums of its own."""

from __future__ import annotations

from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units


def check(page: ReportPage, trace: Trace) -> None:
    found = trace.sql(
        "SELECT operation, CAST(SUM(blocked_ns) AS BIGINT) AS ns,"
        " CAST(SUM(blocked_low_ns) AS BIGINT), CAST(SUM(blocked_high_ns) AS BIGINT),"
        " CAST(SUM(readings) AS BIGINT) FROM blocked JOIN process USING (process_id)"
        " WHERE stage = 'loop' AND layer IN ('python', 'simulator', 'framework')"
        " AND role = 'main' GROUP BY operation HAVING ns > 0 ORDER BY ns DESC"
    )
    times = dict(
        trace.sql(
            "SELECT operation, CAST(SUM(duration_ns) AS BIGINT) FROM breakdown"
            " JOIN process USING (process_id) WHERE stage = 'loop' AND role = 'main'"
            " GROUP BY operation"
        )
    )
    assert page.table("blocked", "Table: ") == [
        [
            units.operation(operation),
            *(units.duration(each) for each in (ns, times[operation], low, high)),
            f"{readings:,}",
        ]
        for operation, ns, low, high, readings in found
    ]
    (note,) = page.notes("blocked")
    assert "estimates" in note
