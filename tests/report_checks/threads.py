"""Threads: operations of threads while another thread owned the process."""

from __future__ import annotations

from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import layers, units


def check(page: ReportPage, trace: Trace) -> None:
    ((thread, tid, process, ns),) = trace.sql(
        "SELECT t.name, os_tid, process.name, CAST(SUM(duration_ns) AS BIGINT)"
        " FROM breakdown_by_thread JOIN thread AS t USING (thread_id)"
        " JOIN process ON process.process_id = t.process_id"
        " WHERE operation = 'save' GROUP BY ALL"
    )
    (owned,) = trace.sql(
        "SELECT COALESCE(SUM(duration_ns), 0) AS ns FROM breakdown WHERE operation = 'save'"
    )["ns"]
    assert 0 < owned < ns  # it owned the process before the main thread began, and not after
    (note,) = page.notes("threads")
    assert "owns a process" in note
    layer = layers.label("python", False)
    assert page.table("threads", "Table: ") == [
        [
            "save",
            thread or "?",
            str(tid),
            process,
            units.duration(ns),
            f"{layer} {units.share(1, 1)}",
            units.duration(int(ns - owned)),
        ]
    ]
