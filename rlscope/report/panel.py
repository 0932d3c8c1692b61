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
class CodeLine:
    """A line of a program's source."""

    number: int
    text: str
    place: int | None = None
    """Its place in `Code.lines`; None: it is shown because it is near such a line."""


@dataclass(frozen=True)
class CodeFile:
    """The lines of a file that are shown, in their order."""

    title: str
    path: str
    lines: Sequence[CodeLine]
    length: int
    """How many lines the file has."""


@dataclass(frozen=True)
class Code:
    """Source text, its lines with their times. The reader chooses an operation."""

    key: str
    """Unique in a page; names the element that holds it."""
    files: Sequence[CodeFile]
    lines: Sequence[str]
    """The lines that have times, by name."""
    choices: Mapping[str, Sequence[int]]
    """Name of what the reader chooses -> the places of its operations; the first is shown."""
    layers: Sequence[tuple[str, str]]
    """Names and colours."""
    waiting: int | None
    """The place of layer wait among them."""
    parts: Sequence[tuple[int, ...]]
    """Places of line, operation and layer, own time and total time in ns, and GPU time if there is
    some."""
    has_gpu: bool
    """Whether some part has GPU time."""
    backward_ns: Sequence[int]
    """By line: the time of PyTorch's backward in what it made, over all operations. Empty: none."""
    whole_ns: int
    """What shares are of."""


@dataclass(frozen=True)
class Frame:
    """A call in a flame graph."""

    caller: int | None
    """Its place in `Flame.frames`, before this one; None: nobody called it."""
    name: str
    place: str
    """Where in the source, in full."""


@dataclass(frozen=True)
class Flame:
    """Calls above the calls that they made. The reader chooses an operation."""

    key: str
    """Unique in a page; names the element that holds it."""
    measures: Mapping[str, str]
    """What the width of a frame can be -> a title for readers who cannot see it. The first is
    shown; where there are several, the reader chooses."""
    frames: Sequence[Frame]
    """After those, the time that belongs to none has frames of its own."""
    choices: Mapping[str, Sequence[int]]
    """As those of `Code`."""
    layers: Sequence[tuple[str, str]]
    """Names and colours."""
    parts: Sequence[tuple[int, ...]]
    """Places of frame, operation and layer, and by measure the time of the frame itself in ns;
    zeros at the end are left out."""
    colours: Sequence[int] | None = None
    """Places of layers: of all time, then of each frame. None: a frame has the colour of the layer
    that takes most of its time."""


@dataclass(frozen=True)
class Drawing:
    """Charts, sentences, flame graphs, source text and grids, shown in this order."""

    notes: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    flames: Sequence[Flame] = ()
    codes: Sequence[Code] = ()
    grids: Sequence[Grid] = field(default=())
    title: str = ""
    """Instead of that of the panel, with its question; "": the panel's."""
    question: str = ""


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
