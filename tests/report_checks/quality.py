"""Data quality: how much was recorded, what it cost, what was lost, what is unknown."""

from __future__ import annotations

from report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import losses, units


def check(page: ReportPage, trace: Trace) -> None:
    _check_notes(*page.notes("quality"), trace=trace)
    lost = trace.sql(
        "SELECT kind, CAST(SUM(count) AS BIGINT) AS n, CAST(SUM(duration_ns) AS BIGINT),"
        " COUNT(DISTINCT process_id), MAX(detail) FROM loss GROUP BY kind ORDER BY n DESC, kind"
    )
    assert page.table("quality", "Table: losses") == [
        [kind, units.count(n), units.duration(ns), str(processes), losses.MEANING[kind], detail]
        for kind, n, ns, processes, detail in lost
    ]
    absent = trace.sql("SELECT relation, column_name, reason FROM absent")
    shown = [
        (relation, column, reason)
        for relation, columns, reason in page.table("quality", "why a relation or column is empty")
        for column in columns.split(", ")
    ]
    assert sorted(shown) == sorted(absent)


def _check_notes(
    recorded: str,
    overhead: str,
    own: str,
    exits: str,
    outside: str,
    threads: str,
    lost: str,
    *,
    trace: Trace,
) -> None:
    ((events, size, wall_ns, own_ns, cpu_ns, exit_ns),) = trace.sql(
        "SELECT CAST(SUM(events) AS BIGINT), CAST(SUM(file_bytes) AS BIGINT),"
        " CAST(SUM(end_ns - start_ns) AS BIGINT), CAST(SUM(profiler_cpu_ns) AS BIGINT),"
        " CAST(SUM(cpu_ns) AS BIGINT), CAST(SUM(exit_flush_ns) AS BIGINT) FROM process"
    )
    assert recorded == (
        f"{units.count(events)} events in {units.size(size)}, {units.duration(wall_ns)} of "
        f"2 processes recorded."
    )
    assert f" {units.duration(own_ns)} of CPU time beside {units.duration(cpu_ns)} of the" in own
    assert f"({units.share(own_ns, cpu_ns)})" in own
    assert exits == f"Exits waited {units.duration(exit_ns)} until all records were written."
    ((with_ns, without_ns, low_ns, high_ns),) = trace.sql(
        "SELECT CAST(SUM(duration_ns) AS BIGINT), CAST(SUM(corrected_ns) AS BIGINT),"
        " CAST(SUM(corrected_low_ns) AS BIGINT), CAST(SUM(corrected_high_ns) AS BIGINT)"
        " FROM breakdown WHERE stage = 'loop'"
    )
    shares = [units.share(with_ns - ns, with_ns) for ns in (without_ns, high_ns, low_ns)]
    assert overhead.startswith(
        "Overhead: recording took {} of the training loop ({} to {}): ".format(*shares)
    )
    assert (
        f"{units.duration(with_ns)} as recorded, {units.duration(without_ns)} without "
        f"({units.duration(low_ns)} to {units.duration(high_ns)}). " in overhead
    )
    ((startup_ns, between_ns, end_ns),) = trace.sql(
        "SELECT CAST(SUM(duration_ns) FILTER (stage = 'start-up') AS BIGINT),"
        " CAST(SUM(duration_ns) FILTER (stage = 'loop' AND operation = '(none)') AS BIGINT),"
        " CAST(SUM(duration_ns) FILTER (stage = 'end') AS BIGINT) FROM breakdown"
    )
    assert outside == (
        f"Before the training loop {units.duration(startup_ns)}, in it outside operations "
        f"{units.duration(between_ns)}, after it {units.duration(end_ns)}."
    )
    assert threads.startswith("In 1 process more than one thread had operations.")
    ((kinds,),) = trace.sql("SELECT COUNT(DISTINCT kind) FROM loss")
    assert lost == f"{units.plural(kinds, 'kind')} of loss or repair: see the table."
