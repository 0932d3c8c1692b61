"""Flame graph: every frame with its share, and the innermost lines, counted stack by stack."""

from __future__ import annotations

from support.files.facts import assert_says
from support.files.report_page import ReportPage

from rlscope.opening import Trace
from rlscope.report import units

_FRAMES = """
return [...document.querySelectorAll("#flame-graph .frame")].map((each) =>
  [each.getAttribute("aria-label"), each.getBoundingClientRect().width + 1,
   each.parentNode.clientWidth]);
"""

_SWITCH = """
[...document.querySelectorAll("#flame-graph label")]
  .find((each) => each.textContent.trim() === arguments[0]).querySelector("input").click();
return "";
"""


def check(page: ReportPage, trace: Trace) -> None:
    note, gpu_note = page.notes("flame")
    assert_says(gpu_note, "training loops of 2 processes", "GPU", "exact")
    assert_says(note, "training loops of 2 processes", "estimates", "0.1 %", "2,000")
    whole = trace.sql("SELECT CAST(SUM(duration_ns) AS BIGINT) AS ns FROM training_loop")["ns"][0]
    _check_frames(page, _times(trace, whole, "self_ns"), whole)
    gpu = trace.sql(
        "SELECT CAST(SUM(gpu_ns) AS BIGINT) AS ns FROM source_line"
        " WHERE stage = 'loop' AND layer = 'gpu'"
    )["ns"][0]
    assert gpu > 0
    page.texts(_SWITCH, "GPU time")
    _check_frames(page, _times(trace, gpu, "gpu_ns"), gpu)
    page.texts(_SWITCH, "wall time")
    inner = trace.sql(
        "SELECT line, function, CAST(SUM(self_ns) AS BIGINT) AS ns,"
        " CAST(SUM(self_corrected_ns) AS BIGINT) FROM source_line"
        " WHERE stage = 'loop' GROUP BY ALL HAVING ns > 0 ORDER BY ns DESC"
    )
    assert page.table("flame", "Table: lines that were innermost") == [
        [
            f"a.py:{line}",
            function,
            units.duration(ns),
            units.share(ns, whole),
            units.duration(corrected_ns),
            "program",
        ]
        for line, function, ns, corrected_ns in inner
    ]


def _check_frames(page: ReportPage, times: dict[str, int], whole: int) -> None:
    frames = page.texts(_FRAMES)
    assert {label for label, _, _ in frames} == {
        f"{name}, {units.share(ns, whole)}" for name, ns in times.items()
    }
    for label, width, full in frames:
        assert abs(width - full * times[label.rpartition(", ")[0]] / whole) < 2


def _times(trace: Trace, whole: int, column: str) -> dict[str, int]:
    """The time of the stacks that each call is on."""
    stacks = {row["stack_id"]: row for row in trace.table("stack").to_dicts()}
    rows = trace.sql(
        f"SELECT stack_id, CAST(SUM({column}) AS BIGINT) FROM stack_time"
        " WHERE stage = 'loop' AND stack_id IS NOT NULL GROUP BY ALL"
    )
    times = {"all": whole, "(stack not known)": whole}
    for stack_id, ns in rows:
        times["(stack not known)"] -= ns
        while stack_id is not None:
            row = stacks[stack_id]
            name = f"{row['function']} (a.py:{row['line']})"
            times[name] = times.get(name, 0) + ns
            stack_id = row["parent_id"]
    return {name: ns for name, ns in times.items() if ns}
