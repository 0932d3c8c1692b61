"""Pages with one flame graph, of any size, and with some panels of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlscope.report import page, panels
from rlscope.report.panel import Drawing, Flame, Frame

MILLISECOND = 1_000_000


def columns(count: int, depth: int) -> Flame:
    """`count` stacks of `depth` calls, of which no two share one; each has the same time."""
    frames = [
        Frame(
            caller=None if level == 0 else column * depth + level - 1,
            name=f"call_{column}_{level} (file_{level}.py:{column})",
            place=f"/home/me/file_{level}.py",
        )
        for column in range(count)
        for level in range(depth)
    ]
    return Flame(
        key="flame-graph",
        measures={"wall time": "Calls"},
        frames=frames,
        choices={"all operations": [0]},
        layers=[("python", "#E69F00")],
        parts=[(column * depth + depth - 1, 0, 0, MILLISECOND) for column in range(count)],
    )


def render(flame: Flame) -> str:
    """The page."""
    return _page([page.Section("flame", "Flame graph", "Which calls?", Drawing(flames=[flame]))])


def render_panels(trace: Any, *names: str) -> str:
    """A page with these panels of a report and no other."""
    drawn = {name: panel.draw(panel.read(trace)) for name, panel in panels.load() if name in names}
    assert drawn.keys() == {*names}
    return _page(
        [
            page.Section(name, name, "", drawing)
            for name, drawing in drawn.items()
            if isinstance(drawing, Drawing)
        ]
    )


def _page(sections: Sequence[page.Section]) -> str:
    return page.render(
        page.Page(
            title="Flame graph",
            run="",
            headline="",
            generator="",
            details=[],
            sections=sections,
            absent_title="",
            absent=[],
            footer="",
        )
    )
