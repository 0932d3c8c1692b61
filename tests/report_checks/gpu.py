"""GPU state: bars of every operation and of all together, and the four totals."""

from __future__ import annotations

from support.files.report_page import OPERATION, ReportPage

from rlscope.opening import Trace
from rlscope.report import units

# In the training loop.
_SPAN = f"""
SELECT {OPERATION} AS operation, layer, gpu_busy, duration_ns
FROM breakdown WHERE stage = 'loop'
"""


def check(page: ReportPage, trace: Trace) -> None:
    (note,) = page.notes("gpu")
    assert note.startswith("All shares are of the training loops of 2 processes together.")
    rows = trace.sql(
        "SELECT CASE layer WHEN 'none' THEN IF(gpu_busy, 'gpu', 'idle')"
        " WHEN 'wait' THEN IF(gpu_busy, 'gpu', 'waiting')"
        " ELSE IF(gpu_busy, 'cpu+gpu', 'cpu') END AS state, operation,"
        f" CAST(SUM(duration_ns) AS BIGINT) AS ns FROM ({_SPAN}) GROUP BY ALL HAVING ns > 0"
    )
    totals = dict.fromkeys(("cpu", "cpu+gpu", "gpu", "idle", "waiting"), 0)
    for state, _, ns in rows:
        totals[state] += ns
    bars = {(state, operation): ns for state, operation, ns in rows}
    totals = {state: ns for state, ns in totals.items() if ns}
    bars |= {(state, "all together"): ns for state, ns in totals.items()}
    assert page.bars("gpu-chart") == bars
    whole = sum(totals.values())
    cells = [row[:3] for row in page.table("gpu", "Table: totals")]
    assert sorted(cells) == [
        [state, units.duration(ns), units.share(ns, whole)] for state, ns in totals.items()
    ]
