"""Waiting: what operations wait for, by the process at the other end."""

from __future__ import annotations

from collections import Counter

from support.files.facts import assert_says
from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units

_OPERATION = (
    "CASE WHEN wait.operation <> '(none)' THEN wait.operation"
    " WHEN stage = 'end' THEN '(end)' ELSE '(between operations)' END"
)
"""No process waits in its start-up."""


def check(page: ReportPage, trace: Trace) -> None:
    rows = trace.sql(
        f"SELECT own.name, {_OPERATION}, peer.name, CAST(SUM(self_ns) AS BIGINT) AS ns"
        " FROM wait JOIN process AS peer ON peer.process_id = peer_process_id"
        " JOIN process AS own ON own.process_id = wait.process_id"
        " GROUP BY ALL ORDER BY ns DESC"
    )
    assert {(own, operation, name) for own, operation, name, _ in rows} == {
        ("worker", "(between operations)", "trainer"),
        ("worker", "(end)", "trainer"),
        ("trainer", "rollout/simulation", "worker"),
    }
    whole: Counter[str] = Counter()
    for own, _, _, ns in rows:
        whole[own] += ns
    (note,) = page.notes("waiting")
    assert_says(note, "5 µs or more", "wait")
    assert page.table("waiting", "Table: ") == [
        [*names, units.duration(ns), units.share(ns, whole[names[0]])] for *names, ns in rows
    ]
