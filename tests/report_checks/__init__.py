"""What each panel of the page must show, by SQL over the same trace: one file per panel.

    CHECKS["iterations"](page, trace)

A check compares every sentence, chart and table of its panel, so that it fails as soon as one of
them shows nothing. It asks the relations themselves, never the statements behind the report.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from support.files.report_page import ReportPage

from rlscope import registry
from rlscope.opening import Trace

CHECKS: dict[str, Callable[[ReportPage, Trace], None]] = {
    name: importlib.import_module(f"report_checks.{name}").check
    for name in registry.builtin(registry.PANELS)
}
