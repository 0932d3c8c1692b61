"""Operations: bars by layer, the tree, and what was found automatically."""

from __future__ import annotations

from report_page import ReportPage

from rlscope.load import Trace
from rlscope.report import layers, units


def check(page: ReportPage, trace: Trace) -> None:
    (note,) = page.notes("operations")
    assert note.startswith("Time belongs to the innermost open operation")
    bars = times(trace, "operation")
    walls = trace.sql("SELECT CAST(SUM(end_ns - start_ns) AS BIGINT) AS ns FROM process")["ns"]
    assert sum(bars.values()) == walls[0]
    assert page.bars("operations-chart") == bars
    tree = [[row[0].strip(), *row[1:4]] for row in page.table("operations", "Table: ")]
    assert sorted(tree) == sorted(_tree(trace, walls[0]))
    assert page.table("operations", "Found automatically: ") == _automatic(trace)


def times(trace: Trace, group: str) -> dict[tuple[str, str], int]:
    """(layer, group) -> ns of the whole breakdown."""
    rows = trace.sql(
        f"SELECT layer, gpu_busy, {group}, CAST(SUM(duration_ns) AS BIGINT) AS ns"
        f" FROM breakdown JOIN process USING (process_id) GROUP BY ALL HAVING ns > 0"
    )
    return {(layers.label(layer, busy), name): ns for layer, busy, name, ns in rows}


def _tree(trace: Trace, whole_ns: int) -> list[list[str]]:
    """Name, total, share and own time of every path; a total is that of all paths below it too."""
    rows = trace.sql(
        "SELECT name, CAST(SUM(duration_ns) AS BIGINT) AS total_ns,"
        " CAST(COALESCE(SUM(duration_ns) FILTER (breakdown.operation = path), 0) AS BIGINT)"
        " FROM (SELECT path, name FROM operation UNION ALL SELECT '(none)', '(none)')"
        " JOIN breakdown ON breakdown.operation = path"
        "   OR STARTS_WITH(breakdown.operation, path || '/')"
        " GROUP BY path, name"
    )
    return [
        [name, units.duration(total), units.share(total, whole_ns), units.duration(own)]
        for name, total, own in rows
    ]


def _automatic(trace: Trace) -> list[list[str]]:
    """The one operation that was found, in the only process that annotates nothing."""
    rows = trace.sql(
        "SELECT name, rule, COUNT(*), CAST(SUM(duration_ns) AS BIGINT) FROM operation_instance"
        " JOIN operation USING (operation_id) WHERE source = 'automatic' GROUP BY ALL"
    )
    (share,) = trace.sql(
        "SELECT SUM(duration_ns) FILTER (source = 'automatic')"
        " / SUM(duration_ns) FILTER (source IS NOT NULL) AS share"
        " FROM breakdown WHERE process_id = 1"
    )["share"]
    return [
        [name, units.count(instances), units.duration(ns), units.share(share, 1), rule]
        for name, rule, instances, ns in rows
    ]
