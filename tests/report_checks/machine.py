"""Machine: every reading of every metric, and the GPU's busy time beside its utilisation."""

from __future__ import annotations

import pytest
from report_page import Line, ReportPage

from report_checks.timeline import LEVEL
from rlscope.load import Trace
from rlscope.report import units

_GIB = 1 << 30


def check(page: ReportPage, trace: Trace) -> None:
    cpu, utilisation = page.notes("machine")
    assert cpu.startswith("CPU is a share of all cores for the machine")
    assert utilisation.startswith("NVML calls a GPU utilised while any kernel runs")
    ((last_ns,),) = trace.sql(
        "SELECT MAX(m.start_ns) - ANY_VALUE(run.start_ns) FROM machine_sample AS m, run"
    )
    divisor, _ = units.axis_unit(last_ns)
    expected = {**_samples(trace, divisor), **_busy(trace, divisor)}
    lines = page.lines("machine-chart")
    assert set(lines) == set(expected)
    for name, line in lines.items():
        assert line.x == pytest.approx(expected[name].x, rel=1e-6)
        assert line.y == pytest.approx(expected[name].y, rel=1e-6)


def _samples(trace: Trace, divisor: int) -> dict[str, Line]:
    """The run is sampled less often than a line has points: each reading is one."""
    rows = trace.sql(
        "SELECT metric, process.name, os_pid, m.start_ns - run.start_ns AS after_ns, value"
        " FROM run, machine_sample AS m LEFT JOIN process USING (process_id) ORDER BY after_ns"
    )
    lines: dict[str, Line] = {}
    for metric, process, pid, after_ns, value in rows:
        reading, _, unit = metric.rpartition("_")
        whose = "host" if process is None else f"{process} (pid {pid})"
        line = lines.setdefault(f"{reading}: {whose}", Line([], []))
        line.x.append(after_ns / divisor)
        line.y.append(value / (_GIB if unit == "bytes" else 1))
    return lines


def _busy(trace: Trace, divisor: int) -> dict[str, Line]:
    """Of the trainer, which alone uses the GPU, in the middle of each bucket."""
    rows = trace.sql(
        "SELECT timeline.start_ns - run.start_ns + bucket_ns / 2 AS after_ns,"
        " COALESCE(SUM(duration_ns) FILTER (gpu_busy), 0) / bucket_ns AS share"
        f" FROM run, timeline JOIN ({LEVEL}) USING (process_id, level) WHERE process_id = 0"
        " GROUP BY after_ns, bucket_ns ORDER BY after_ns"
    )
    x, y = ([cell / divisor for cell in rows["after_ns"]], [100 * cell for cell in rows["share"]])
    return {"busy: trainer": Line(x, y)}
