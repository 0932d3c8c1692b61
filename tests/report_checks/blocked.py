"""Blocked native code: the largest operation, with sums of its own."""

from __future__ import annotations

from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units


def check(page: ReportPage, trace: Trace) -> None:
    found = trace.sql(
        "SELECT operation, CAST(SUM(blocked_ns) AS BIGINT) AS ns FROM blocked"
        " WHERE stage = 'loop' AND layer IN ('python', 'simulator', 'framework')"
        " AND operation NOT LIKE '%compiled:%' GROUP BY operation HAVING ns > 0 ORDER BY ns DESC"
    )
    rows = page.table("blocked", "Table: ")
    named = {"(none)": "between operations"}
    assert {(row[0], row[1]) for row in rows} <= {
        (named.get(operation, operation), units.duration(ns)) for operation, ns in found
    }
    (note,) = page.notes("blocked")
    assert "estimates" in note
