"""Layers: how native calls were seen, entries into another layer, the longest calls."""

from __future__ import annotations

import json

from support.files.facts import assert_says
from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units


def check(page: ReportPage, trace: Trace) -> None:
    seen, cost, blind, entries, calls, *short = page.notes("layers")
    _check_short(short, trace)
    ((said,),) = trace.sql("SELECT value FROM metadata WHERE key = 'rlscope.interception'")
    facts = json.loads(said)
    for library, layer in facts["libraries"].items():
        assert f"{library} ({layer})" in seen
    spent = units.duration(facts["startup_ns"]), units.duration(facts["counts"]["scan_ns"])
    assert_says(cost, "start-up", spent[0], "imports", spent[1])
    assert "does not see" in blind
    for way, count in _ways(trace):
        assert f"{way} {units.count(count)}" in entries
    for function, share, count in _functions(trace):
        assert f"{function} {units.share(share, 1)} (" in calls
        assert f" x {units.count(count)})" in calls
    assert sorted(page.table("layers", "Table: entries")) == sorted(_crossings(trace))
    assert sorted(page.table("layers", "Table: the native calls")) == sorted(_calls(trace))


def _check_short(notes: list[str], trace: Trace) -> None:
    ((count,),) = trace.sql(
        "SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM overhead WHERE kind = 'short wait'"
    )
    assert len(notes) == (count > 0)
    for note in notes:
        assert_says(note, f"{units.count(count)} waits", "5 µs", "no count of calls")


def _ways(trace: Trace) -> list[tuple[str, int]]:
    rows = trace.sql(
        "SELECT from_layer || ' to ' || to_layer AS way, CAST(SUM(count) AS BIGINT) AS n"
        " FROM transition GROUP BY way ORDER BY n DESC LIMIT 4"
    )
    return list(rows)


def _functions(trace: Trace) -> list[tuple[str, float, int]]:
    rows = trace.sql(
        "SELECT function, SUM(duration_ns) / (SELECT SUM(duration_ns) FROM native_call) AS share,"
        " CAST(SUM(calls) AS BIGINT) FROM native_call GROUP BY function"
    )
    return list(rows)


def _crossings(trace: Trace) -> list[list[str]]:
    rows = trace.sql(
        "SELECT operation, from_layer, to_layer, CAST(SUM(count) AS BIGINT), SUM(per_iteration)"
        " FROM transition GROUP BY ALL"
    )
    return [[*names, units.count(count), units.count(rate)] for *names, count, rate in rows]


def _calls(trace: Trace) -> list[list[str]]:
    """Each operation of the run calls one native function, so that has all of its native time."""
    rows = trace.sql(
        "SELECT operation, function, layer, CAST(SUM(calls) AS BIGINT),"
        " CAST(SUM(duration_ns) AS BIGINT), CAST(SUM(self_ns) AS BIGINT)"
        " FROM native_call GROUP BY ALL"
    )
    return [
        [
            *names,
            units.count(calls),
            units.duration(ns),
            "100.0 %",
            units.duration(ns / calls),
            units.duration(own),
        ]
        for *names, calls, ns, own in rows
    ]
