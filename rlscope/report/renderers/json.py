"""What the page shows as JSON: its sentences, findings, and the tables behind every panel.

docs/reference/report.md describes it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rlscope.report import advice_renderers, headline, panels

if TYPE_CHECKING:
    from rlscope.opening import Trace

SCHEMA = 1
"""The version of the JSON. It changes when a key changes its meaning or goes."""


def render(trace: Trace) -> str:
    """One JSON object, nanoseconds as integers; raises RlscopeError when a table cannot be read."""
    summary = headline.read(trace)
    value = {
        "schema": SCHEMA,
        "headline": {
            "cut": summary.cut,
            "busy": summary.busy,
            "run": summary.run,
            "sentence": summary.sentence,
            "details": [each.text for each in summary.details],
        },
        "advice": advice_renderers.as_object(trace),
        "panels": {
            name: {table: rows.to_dicts() for table, rows in panel.read(trace).items()}
            for name, panel in panels.load()
        },
    }
    return json.dumps(value, indent=1) + "\n"
