"""Waiting: what operations wait for, by the process at the other end."""

from __future__ import annotations

from support.files.facts import assert_says
from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units


def check(page: ReportPage, trace: Trace) -> None:
    rows = trace.sql(
        "SELECT operation, peer.name, CAST(SUM(self_ns) AS BIGINT) AS ns"
        " FROM wait JOIN process AS peer ON peer.process_id = peer_process_id"
        " GROUP BY ALL ORDER BY ns DESC"
    )
    assert {(operation, name) for operation, name, _ in rows} == {
        ("(none)", "trainer"),
        ("rollout/simulation", "worker"),
    }
    (note,) = page.notes("waiting")
    assert_says(note, "5 µs or more", "`wait`")
    assert page.table("waiting", "Table: ") == [
        [operation, name, units.duration(ns), units.share(1, 1)] for operation, name, ns in rows
    ]
