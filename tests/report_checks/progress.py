"""Whole run: how long it takes at the rate between the first report of progress and the last."""

from __future__ import annotations

from support.files.facts import assert_says
from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units


def check(page: ReportPage, trace: Trace) -> None:
    ((first_ns, first, last_ns, done, total, reports, began_ns),) = trace.sql(
        "SELECT MIN(p.start_ns), MIN(done), MAX(p.start_ns), MAX(done), MAX(total), COUNT(*),"
        " ANY_VALUE(process.start_ns) FROM progress AS p JOIN process USING (process_id)"
    )
    elapsed = last_ns - began_ns
    whole = elapsed + (total - done) * (last_ns - first_ns) / (done - first)
    (note,) = page.notes("progress")
    assert_says(
        note,
        *("whole run of trainer", units.duration(whole), units.share(done, total)),
        *(f"{done:.0f} of {total:.0f}", units.duration(elapsed)),
    )
    assert page.table("progress", "Table: ") == [
        [
            "trainer",
            str(reports),
            f"{done:.0f}",
            f"{total:.0f}",
            units.share(done, total),
            units.duration(elapsed),
            units.duration(whole),
        ]
    ]
