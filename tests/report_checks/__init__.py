"""What each panel of the page must show, by SQL over the same trace: one file per panel.

    CHECKS["iterations"](page, trace)

A check compares every sentence, chart and table of its panel, so that it fails as soon as one of
them shows nothing. It asks the relations themselves, never the statements behind the report.
"""

from __future__ import annotations

from collections.abc import Callable

from report_page import ReportPage

from report_checks import (
    cuda,
    gpu,
    iterations,
    layers,
    machine,
    operations,
    processes,
    progress,
    quality,
    run,
    threads,
    timeline,
    waiting,
)
from rlscope.opening import Trace

CHECKS: dict[str, Callable[[ReportPage, Trace], None]] = {
    "operations": operations.check,
    "layers": layers.check,
    "gpu": gpu.check,
    "cuda": cuda.check,
    "timeline": timeline.check,
    "iterations": iterations.check,
    "progress": progress.check,
    "processes": processes.check,
    "waiting": waiting.check,
    "threads": threads.check,
    "machine": machine.check,
    "quality": quality.check,
    "run": run.check,
}
