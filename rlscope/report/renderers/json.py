"""The tables behind every panel as JSON: {panel: {table: [{column: value, ...}, ...]}}."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rlscope.report import headline, panels

if TYPE_CHECKING:
    from rlscope.opening import Trace


def render(trace: Trace) -> str:
    """One JSON object, nanoseconds as integers; raises RlscopeError when a table cannot be read."""
    summary = headline.read(trace)
    value = {
        "headline": {
            "cut": summary.cut,
            "run": summary.run,
            "sentence": summary.sentence,
            "details": [each.text for each in summary.details],
        },
        "panels": {
            name: {table: rows.to_dicts() for table, rows in panel.read(trace).items()}
            for name, panel in panels.load()
        },
    }
    return json.dumps(value, indent=1) + "\n"
