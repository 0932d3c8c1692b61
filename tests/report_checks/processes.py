"""Processes: the bars of their roles, and the table of parents and children."""

from __future__ import annotations

from typing import Any

from support.files.report_page import ReportPage

from report_checks import operations
from rlscope.opening import Trace
from rlscope.report import units


def check(page: ReportPage, trace: Trace) -> None:
    (note,) = page.notes("processes")
    assert "rls.process()" in note
    assert page.bars("processes-chart") == operations.times(trace, "name")
    rows = trace.sql(
        "SELECT process.*, process.start_ns - run.start_ns AS after_ns,"
        " (SELECT CAST(SUM(duration_ns) AS BIGINT) FROM breakdown"
        "   WHERE breakdown.process_id = process.process_id AND operation <> '(none)') AS busy_ns,"
        " (SELECT COUNT(*) FROM thread WHERE thread.process_id = process.process_id) AS threads"
        " FROM process, run ORDER BY process.start_ns"
    ).to_dicts()
    assert [row["parent_process_id"] for row in rows] == [None, 0]
    assert page.table("processes", "Table: ") == [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    wall_ns = row["end_ns"] - row["start_ns"]
    return [
        row["name"] if row["parent_process_id"] is None else f"    {row['name']}",
        row["role"],
        str(row["os_pid"]),
        f"+{units.duration(row['after_ns'])}",
        units.duration(wall_ns),
        units.duration(row["busy_ns"]),
        units.duration(row["cpu_ns"]),
        units.duration(row["profiler_cpu_ns"]),
        str(row["threads"]),
        units.count(row["events"]),
        {"exit": "exited"}[row["ended"]] if row["exit"] is None else f"exit {row['exit']}",
        row["program"],
    ]
