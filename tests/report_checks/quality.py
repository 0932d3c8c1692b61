"""Data quality: how much was recorded, what it cost, what was lost, what is unknown."""

from __future__ import annotations

from support.files.facts import assert_says
from support.files.report_page import ReportPage

from rlscope.costs import record_costs
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


def _check_notes(
    recorded: str,
    overhead: str,
    own: str,
    exits: str,
    outside: str,
    threads: str,
    cuda: str,
    lost: str,
    *,
    trace: Trace,
) -> None:
    ((events, size, wall_ns, own_ns, cpu_ns, exit_ns),) = trace.sql(
        "SELECT CAST(SUM(events) AS BIGINT), CAST(SUM(file_bytes) AS BIGINT),"
        " CAST(SUM(end_ns - start_ns) AS BIGINT), CAST(SUM(profiler_cpu_ns) AS BIGINT),"
        " CAST(SUM(cpu_ns) AS BIGINT), CAST(SUM(exit_flush_ns) AS BIGINT) FROM process"
    )
    assert_says(
        recorded,
        *(f"{units.count(events)} events", units.size(size), units.duration(wall_ns)),
        "2 processes",
    )
    assert_says(own, units.duration(own_ns), units.share(own_ns, cpu_ns), units.duration(cpu_ns))
    assert_says(exits, "waited", units.duration(exit_ns))
    ((with_ns, without_ns, low_ns, high_ns),) = trace.sql(
        "SELECT CAST(SUM(duration_ns) AS BIGINT), CAST(SUM(corrected_ns) AS BIGINT),"
        " CAST(SUM(corrected_low_ns) AS BIGINT), CAST(SUM(corrected_high_ns) AS BIGINT)"
        " FROM breakdown WHERE stage = 'loop'"
    )
    shares = [units.share(with_ns - ns, with_ns) for ns in (without_ns, high_ns, low_ns)]
    assert_says(
        overhead.partition(" The cost of most ")[0],
        *("Overhead", "{} of the training loop ({} to {})".format(*shares), "without"),
        "{} ({} to {})".format(*map(units.duration, (without_ns, low_ns, high_ns))),
        units.duration(with_ns),
    )
    _check_outside(outside, trace)
    assert_says(threads, "1 process", "more than one thread")
    _check_cuda(cuda, trace)
    ((kinds,),) = trace.sql("SELECT COUNT(DISTINCT kind) FROM loss")
    assert_says(lost, units.plural(kinds, "kind"))


def _check_outside(outside: str, trace: Trace) -> None:
    ((startup_ns, between_ns, end_ns),) = trace.sql(
        "SELECT CAST(SUM(duration_ns) FILTER (stage = 'start-up') AS BIGINT),"
        " CAST(SUM(duration_ns) FILTER (stage = 'loop' AND operation = '(none)') AS BIGINT),"
        " CAST(SUM(duration_ns) FILTER (stage = 'end') AS BIGINT) FROM breakdown"
    )
    assert_says(
        outside,
        *("2 processes together", units.duration(startup_ns), "before the training loop"),
        *(units.duration(between_ns), "outside operations"),
        *(units.duration(end_ns), "after it"),
    )


def _check_cuda(cuda: str, trace: Trace) -> None:
    ((launches,),) = trace.sql(
        "SELECT CAST(SUM(\"count\") AS BIGINT) FROM kernel WHERE operation <> '(unlinked)'"
    )
    mean, low, high = (units.duration(launches * ns) for ns in record_costs.LAUNCH_ON_H100_NS)
    said = (
        "not measured",
        "on an H100",
        f"{low} to {high}",
        units.plural(launches, "launch"),
        mean,
        "10%",  # of --gpu-share
    )
    assert_says(cuda, *said)
