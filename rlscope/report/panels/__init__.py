"""Panels of the report: one question per file, one row per panel in rlscope/registry.py."""

from __future__ import annotations

from collections.abc import Iterator

from rlscope import registry
from rlscope.report.panel import Panel


def load() -> Iterator[tuple[str, Panel]]:
    """Every (name, panel) in the order of the page; the name is unique and a DOM id."""
    yield from registry.load_all(registry.PANELS)
