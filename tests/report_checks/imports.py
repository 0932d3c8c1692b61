"""Imports: the slowest modules, and the sums of each role."""

from __future__ import annotations

from support.files.facts import assert_says
from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units


def check(page: ReportPage, trace: Trace) -> None:
    (note,) = page.notes("imports")
    assert_says(note, "1 ms", "mean")
    rows = trace.sql(
        "SELECT role, module, total_ns, self_ns, import.cpu_ns, imported_by, asked_by"
        " FROM import JOIN process USING (process_id) WHERE module IS NOT NULL"
        " ORDER BY total_ns DESC"
    ).to_dicts()
    assert [row["module"] for row in rows] == ["torch", "torch._C"]
    assert page.table("imports", "Table: ") == [
        [
            row["role"],
            row["module"],
            "1",
            *(units.duration(row[name]) for name in ("total_ns", "self_ns", "cpu_ns")),
            row["imported_by"] or "-",
            row["asked_by"].rpartition("/")[2].replace(":", " line "),
        ]
        for row in rows
    ]
    ((role, modules, self_ns, cpu_ns),) = trace.sql(
        "SELECT ANY_VALUE(role), CAST(SUM(modules) AS BIGINT), CAST(SUM(self_ns) AS BIGINT),"
        " CAST(SUM(import.cpu_ns) AS BIGINT) FROM import JOIN process USING (process_id)"
    )
    assert page.table("imports", "Sums: ") == [
        [role, "1", units.count(modules), units.duration(self_ns), units.duration(cpu_ns)]
    ]
