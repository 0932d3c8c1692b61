"""Operations: bars by layer, the tree, and what was found automatically."""

from __future__ import annotations

from collections.abc import Iterator

from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import layers, units


def check(page: ReportPage, trace: Trace) -> None:
    parts = around(trace)
    note, left_out = page.notes("operations")
    assert "innermost open operation" in note
    assert f"(before the training loop) {units.duration(parts['start-up'])}" in left_out
    assert f"(after it) {units.duration(parts['end'])}" in left_out
    bars = spanned(trace, "operation")
    walls = trace.sql("SELECT CAST(SUM(end_ns - start_ns) AS BIGINT) AS ns FROM process")["ns"]
    span_ns = walls[0] - parts["start-up"] - parts["end"]
    assert sum(bars.values()) == span_ns
    assert page.bars("operations-chart") == bars
    tree = [
        [row[0].strip(), *row[1:5]]
        for row in page.table("operations", "Table: operations as a tree")
    ]
    assert sorted(tree) == sorted(_tree(trace, span_ns, parts))
    pauses = page.table("operations", "Table: time between operations")
    assert pauses == _pauses(trace, span_ns)
    assert page.table("operations", "Found automatically: ") == _automatic(trace, span_ns)


def times(trace: Trace, group: str, where: str = "TRUE") -> dict[tuple[str, str], int]:
    """(layer, group) -> ns of the breakdown."""
    rows = trace.sql(
        f"SELECT layer, gpu_busy, {group}, CAST(SUM(duration_ns) AS BIGINT) AS ns"
        f" FROM breakdown JOIN process USING (process_id) WHERE {where} GROUP BY ALL HAVING ns > 0"
    )
    return {(layers.label(layer, busy), name): ns for layer, busy, name, ns in rows}


def spanned(trace: Trace, group: str) -> dict[tuple[str, str], int]:
    """The same in the training loops, where all processes have one."""
    found = times(trace, group, where="stage = 'loop'")
    return {
        (layer, "(between operations)" if name == "(none)" else name): ns
        for (layer, name), ns in found.items()
    }


def around(trace: Trace) -> dict[str, int]:
    """start-up, end -> ns; between -> ns of the time outside operations in the loop."""
    rows = trace.sql(
        "SELECT IF(stage = 'loop', 'between', stage), CAST(SUM(duration_ns) AS BIGINT)"
        " FROM breakdown WHERE stage <> 'loop' OR operation = '(none)' GROUP BY stage"
    )
    return dict(tuple(row) for row in rows)


def _tree(trace: Trace, whole_ns: int, parts: dict[str, int]) -> list[list[str]]:
    """Name, total, share, corrected and own time of every path; a total is that of all paths below
    it too."""
    rows = trace.sql(
        f"SELECT name, CAST(SUM(duration_ns) AS BIGINT) AS total_ns, {_CORRECTED},"
        " CAST(COALESCE(SUM(duration_ns) FILTER (breakdown.operation = path), 0) AS BIGINT)"
        " FROM operation JOIN breakdown ON stage = 'loop' AND (breakdown.operation = path"
        "   OR STARTS_WITH(breakdown.operation, path || '/'))"
        " GROUP BY path, name"
    )
    found = [
        [
            name,
            units.duration(total),
            units.share(total, whole_ns),
            _interval(*corrected),
            units.duration(own),
        ]
        for name, total, *corrected, own in rows
    ]
    between = units.duration(parts["between"])
    share = units.share(parts["between"], whole_ns)
    corrected = _corrected(trace, "stage = 'loop' AND operation = '(none)'")
    outside = ["(between operations)", between, share, corrected, between]
    return [*found, outside, *_around(trace, parts)]


_CORRECTED = ", ".join(f"CAST(SUM(corrected_{end}ns) AS BIGINT)" for end in ("", "low_", "high_"))


def _corrected(trace: Trace, where: str) -> str:
    (row,) = trace.sql(f"SELECT {_CORRECTED} FROM breakdown WHERE {where}")
    return _interval(*row)


def _interval(mean_ns: int, low_ns: int, high_ns: int) -> str:
    mean, low, high = map(units.duration, (mean_ns, low_ns, high_ns))
    return mean if low == high else f"{mean} ({low} to {high})"


def _around(trace: Trace, parts: dict[str, int]) -> Iterator[list[str]]:
    """Start-up and end, and below them the operations with 1 % of that time: none has parts."""
    rows = trace.sql(
        "SELECT stage, operation, CAST(SUM(duration_ns) AS BIGINT) FROM breakdown"
        " WHERE stage <> 'loop' GROUP BY ALL"
    )
    for stage, operation, ns in rows:
        if operation == "(none)":
            whole = units.duration(parts[stage])
            corrected = _corrected(trace, f"stage = '{stage}'")
            yield [f"({stage})", whole, "", corrected, units.duration(ns)]
        elif ns >= 0.01 * parts[stage]:
            corrected = _corrected(trace, f"stage = '{stage}' AND operation = '{operation}'")
            yield [operation, units.duration(ns), "", corrected, units.duration(ns)]


def _pauses(trace: Trace, span_ns: int) -> list[list[str]]:
    """Between neighbours: one thread at a time is in an operation, but for the saver."""
    rows = trace.sql(
        "WITH _open AS (SELECT process_id, REGEXP_EXTRACT(path, '^(?:[^\\\\/]|\\\\.)*') AS name,"
        "   start_ns, start_ns + duration_ns AS end_ns FROM operation_instance"
        "   JOIN operation USING (operation_id) WHERE depth = 0),"
        " _pause AS (SELECT name, start_ns, LAG(name) OVER _by_start AS before,"
        "   MAX(end_ns) OVER (PARTITION BY process_id ORDER BY start_ns"
        "     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS latest_ns"
        "   FROM _open WINDOW _by_start AS (PARTITION BY process_id ORDER BY start_ns))"
        " SELECT before, name, COUNT(*), CAST(SUM(start_ns - latest_ns) AS BIGINT) AS ns"
        " FROM _pause"
        " WHERE start_ns > latest_ns GROUP BY ALL ORDER BY ns DESC"
    )
    return [
        [
            f"{before} to {after}",
            units.count(pauses),
            units.duration(ns),
            units.share(ns, span_ns),
            units.duration(ns / pauses),
        ]
        for before, after, pauses, ns in rows
    ]


def _automatic(trace: Trace, span_ns: int) -> list[list[str]]:
    """The one operation that was found, in the only process that annotates nothing."""
    rows = trace.sql(
        "SELECT name, rule, COUNT(*), CAST(SUM(duration_ns) AS BIGINT) FROM operation_instance"
        " JOIN operation USING (operation_id) WHERE source = 'automatic' GROUP BY ALL"
    )
    return [
        [name, units.count(instances), units.duration(ns), units.share(ns, span_ns), rule]
        for name, rule, instances, ns in rows
    ]
