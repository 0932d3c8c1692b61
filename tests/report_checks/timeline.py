"""Timeline: areas of the layers and strips of the operations of the first process."""

from __future__ import annotations

import pytest
from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import layers, units

# The finest level of each process that has at most 1,000 buckets.
LEVEL = (
    "SELECT process_id, MIN(level) AS level FROM ("
    "  SELECT process_id, level, COUNT(DISTINCT start_ns) AS buckets FROM timeline GROUP BY ALL)"
    " WHERE buckets <= 1000 GROUP BY process_id"
)
_SHOWN = f"FROM timeline JOIN ({LEVEL}) USING (process_id, level) WHERE process_id = 0"


_LOOP = (
    "SELECT MIN(process.start_ns) + SUM(duration_ns) FILTER (stage = 'start-up') AS from_ns,"
    " MAX(process.end_ns) - SUM(duration_ns) FILTER (stage = 'end') AS until_ns"
    " FROM breakdown JOIN process USING (process_id) WHERE process_id = 0"
)
# What is in no operation, by where the middle of its bucket lies.
_OPERATION = (
    "IF(operation <> '(none)', operation, IF(start_ns + bucket_ns // 2 < from_ns, '(start-up)',"
    " IF(start_ns + bucket_ns // 2 < until_ns, '(between operations)', '(end)')))"
)


def check(page: ReportPage, trace: Trace) -> None:
    (note,) = page.notes("timeline")
    widths = trace.sql(
        f"SELECT DISTINCT bucket_ns FROM timeline JOIN ({LEVEL}) USING (process_id, level)"
        " ORDER BY bucket_ns"
    )["bucket_ns"]
    assert f"One bucket is {' to '.join(map(units.duration, widths))}." in note
    areas, strips = page.shares("timeline-chart")
    drawn = {name: sum(shares) for name, shares in areas.items()}
    assert drawn == pytest.approx(_layers(trace), rel=1e-5)
    # A strip's percents are whole, rounded up.
    drawn = {name: sum(percents) for name, percents in strips.items()}
    assert drawn == pytest.approx(_operations(trace), rel=0.02)


def _layers(trace: Trace) -> dict[str, float]:
    """Buckets that each layer would fill."""
    rows = trace.sql(
        f"SELECT layer, gpu_busy, SUM(duration_ns) / ANY_VALUE(bucket_ns) {_SHOWN} GROUP BY ALL"
    )
    return {layers.label(layer, busy): buckets for layer, busy, buckets in rows}


def _operations(trace: Trace) -> dict[str, float]:
    """Percents of all buckets of each operation, each rounded up."""
    rows = trace.sql(
        f"SELECT {_OPERATION} AS name, SUM(CEIL(100 * ns / bucket_ns)) FROM ("
        f"  SELECT operation, start_ns, bucket_ns, SUM(duration_ns) AS ns {_SHOWN} GROUP BY ALL),"
        f"  ({_LOOP}) GROUP BY name"
    )
    return dict(rows)
