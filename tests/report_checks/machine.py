"""Machine: every reading of every metric, and the GPU's busy time beside its utilisation."""

from __future__ import annotations

import pytest
from support.files.facts import assert_says
from support.files.report_page import Line, ReportPage

from report_checks.timeline import LEVEL
from rlscope.opening import Trace
from rlscope.report import units

_GIB = 1 << 30


def check(page: ReportPage, trace: Trace) -> None:
    cpu, utilisation, *polled = page.notes("machine")
    assert "all cores" in cpu
    assert utilisation.startswith("NVML ")
    for said, facts in zip(polled, _polled(trace), strict=True):
        assert_says(said, *facts)
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


def _polled(trace: Trace) -> list[tuple[str, ...]]:
    """The readings are equally far apart, and recorded from the first to the last."""
    ((mean, first, last),) = trace.sql(
        "SELECT AVG(value) FILTER (sample.start_ns > run.start_ns), MIN(sample.start_ns),"
        " MAX(sample.start_ns) FROM machine_sample AS sample, run WHERE metric = 'gpu0_percent'"
    )
    busy = 100 * _busy_ns(trace, first, last) / (last - first)
    processes = trace.sql(
        "SELECT name, os_pid, polled_percent, 100 * utilisation.busy_ns / duration_ns AS busy,"
        " utilisation.cuda_api_ns, waiting_ns, duration_ns"
        " FROM utilisation JOIN process USING (process_id)"
        " WHERE kind = 'process' ORDER BY utilisation.cpu_ns DESC"
    )
    return [
        ("nvidia-smi", "GPU 0", f"{mean:.0f} %", f"{busy:.1f} % of that time"),
        *(
            (
                *(f"{name} (pid {pid})", f"{percent:.0f} % of a core"),
                *("Python, simulator or framework", f"{share:.1f} % of that time"),
                *(("CUDA", units.share(cuda_ns, ns)) if cuda_ns else ()),
                *("wait", units.share(waiting_ns, ns)),
            )
            for name, pid, percent, share, cuda_ns, waiting_ns, ns in processes
        ),
    ]


def _busy_ns(trace: Trace, first_ns: int, last_ns: int) -> int:
    """The union of GPU work from one time to another."""
    works = trace.sql(
        "SELECT start_ns, start_ns + duration_ns FROM event"
        " WHERE kind IN ('kernel', 'memcpy', 'memset', 'graph') ORDER BY start_ns"
    )
    busy, until = 0, first_ns
    for start, end in works:
        busy += max(0, min(end, last_ns) - max(start, until))
        until = max(until, end)
    return busy


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
    """The line of the trainer, which alone uses the GPU, in the middle of each bucket."""
    rows = trace.sql(
        "SELECT timeline.start_ns - run.start_ns + bucket_ns / 2 AS after_ns,"
        " COALESCE(SUM(duration_ns) FILTER (gpu_busy), 0) / bucket_ns AS share"
        f" FROM run, timeline JOIN ({LEVEL}) USING (process_id, level) WHERE process_id = 0"
        " GROUP BY after_ns, bucket_ns ORDER BY after_ns"
    )
    x, y = ([cell / divisor for cell in rows["after_ns"]], [100 * cell for cell in rows["share"]])
    return {"busy: trainer": Line(x, y)}
