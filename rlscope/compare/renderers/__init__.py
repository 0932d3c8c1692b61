"""What a comparison looks like: text, Markdown, JSON, JUnit, a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlscope.compare.comparison import Comparison
from rlscope.compare.gate import Gate
from rlscope.compare.overlay import Overlay
from rlscope.compare.renderers import json, markdown, text
from rlscope.compare.renderers.junit import render as junit

Render = Callable[[Comparison, "Gate | None"], str]

FORMATS: Mapping[str, Render] = {
    "text": text.render,
    "markdown": markdown.render,
    "json": json.render,
}

__all__ = ["FORMATS", "junit", "overlaid", "page"]


def page(comparison: Comparison, gate: Gate | None) -> str:
    """The page: plotly is imported for it."""
    from rlscope.compare.renderers import html

    return html.render(comparison, gate)


def overlaid(found: Overlay) -> str:
    """The page of several runs: plotly is imported for it."""
    from rlscope.compare.renderers import overlay

    return overlay.render(found)
