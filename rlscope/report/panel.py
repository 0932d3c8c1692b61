"""A panel: one question about a run, the tables that answer it, and how it is drawn.

    read(trace)   -> {name: Table}      analysis: every number comes from here
    draw(tables)  -> Drawing, Nothing   drawing: arranges and formats those numbers, no more

A panel is one file of `rlscope/report/panels` that ends in `PANEL = Panel(...)`, and one row of the
registry. The JSON renderer uses only `read`; a renderer with pictures uses both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

# Plotly figure JSON: {"data": [...], "layout": {...}}.
Figure = dict[str, Any]

Tables = Mapping[str, Table]


@dataclass(frozen=True)
class Chart:
    """One picture; with several views the reader chooses one by name, the first is shown."""

    key: str
    """Unique in a page; names the element that holds the picture."""
    title: str
    """The axes' meaning in a few words: the caption, and the text for readers who cannot see it."""
    views: Mapping[str, Figure]
    """Name of a view -> figure."""
    corrected: Mapping[str, Figure] = field(default_factory=dict)
    """The same views without what recording cost, or none. The reader chooses."""


@dataclass(frozen=True)
class Grid:
    """Rows of finished texts below the chart. Renderers escape them."""

    title: str
    columns: Sequence[str]
    """Headings; a heading that begins with ">" names a column of numbers, set flush right."""
    rows: Sequence[Sequence[str]]
    open: bool = False
    """Shown at once, not only when its title is opened."""


@dataclass(frozen=True)
class Drawing:
    """Sentences, charts and grids, shown in this order."""

    notes: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    grids: Sequence[Grid] = field(default=())


@dataclass(frozen=True)
class Nothing:
    """A panel that this run has nothing for: no section, but one line among those of its like."""

    reason: str
    """Why, and what would fill the panel; "" when another panel says it."""


@dataclass(frozen=True)
class Panel:
    """One answered question."""

    title: str
    question: str
    read: Callable[[Trace], dict[str, Table]]
    """Reads every table that the panel shows; raises RlscopeError as analysis does."""
    draw: Callable[[Tables], Drawing | Nothing]
