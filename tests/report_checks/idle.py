"""Idle time: the sums by reason and by operation, with statements of their own."""

from __future__ import annotations

from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import limits, units

_TIMES = """
SELECT {names}, CAST(SUM(duration_ns) AS BIGINT) AS ns,
  CAST(SUM(duration_ns) FILTER (gpu_busy IS FALSE
    AND process_id IN (SELECT process_id FROM gpu_time))
    AS BIGINT) AS idle_ns
FROM idle JOIN process USING (process_id)
WHERE stage IN ('loop', 'warm-up') AND process_id IN (SELECT process_id FROM training_loop)
GROUP BY ALL ORDER BY ns DESC
"""
_TIMES_OF = {"by reason": "reason", "by operation and reason": "operation, reason"}


def check(page: ReportPage, trace: Trace) -> None:
    has_gpu = bool([*trace.sql("FROM gpu_time LIMIT 1")])
    ((whole_ns,),) = trace.sql(
        "SELECT CAST(SUM(duration_ns) AS BIGINT) FROM breakdown"
        " WHERE stage IN ('loop', 'warm-up')"
        " AND process_id IN (SELECT process_id FROM training_loop)"
    )
    for title, names in _TIMES_OF.items():
        shown = page.table("idle", f"Table: time {title}")
        found = [*trace.sql(_TIMES.format(names=names))][: limits.ROWS]
        places = len(names.split(","))
        assert [row[places:] for row in shown] == [
            [
                units.duration(ns),
                units.share(ns, whole_ns),
                *([units.duration(idle_ns or 0)] if has_gpu else []),
            ]
            for *_, ns, idle_ns in found
        ]
        if places == 2:
            assert {row[0] for row in shown} == {units.operation(row[0]) for row in found}
    (note,) = page.notes("idle")
    assert "reason" in note
