"""One self-contained HTML page: style, script and plotly inside, nothing from the network.

Everything that a user can name is escaped: texts of the page by `html.escape`, JSON inside
<script> elements by `_script_json`, texts inside figures by `rlscope.report.figures.layout.plain`.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

from rlscope.report import headline, panels, units
from rlscope.report.panel import Chart, Drawing, Figure, Grid, Nothing, Panel

if TYPE_CHECKING:
    from rlscope.load import Trace

PLOTLY = "vendor/plotly-cartesian.min.js"
_FOOTER = (
    "All times are wall clock. Every number is a cell of the trace's tables; ask them more with "
    '`rlscope query DIR "SELECT ..."`.'
)


def render(trace: Trace, *, step: Callable[[str], None] = lambda _: None) -> str:
    """The whole page; raises RlscopeError when a table cannot be read. `step` is called with the
    title of each panel before it is made."""
    drawn = list(_drawn(trace, step))
    sections = [(n, panel, each) for n, panel, each in drawn if isinstance(each, Drawing)]
    summary = headline.read(trace)
    template = Template(resource("templates/page.html"))
    return template.substitute(
        generator=_escape(f"rlscope {summary.version}"),
        title=_escape(f"{summary.title} - rlscope"),
        cut=_detail(headline.Detail(summary.cut, warning=True)) if summary.cut else "",
        run=_escape(summary.run),
        headline=_escape(summary.sentence),
        details="\n".join(_detail(each) for each in summary.details),
        contents=" ".join(f'<a href="#{name}">{_escape(p.title)}</a>' for name, p, _ in sections),
        panels="\n".join(_section(name, panel, drawing) for name, panel, drawing in sections),
        nothing=_nothing(drawn),
        footer=_escape(_FOOTER),
        css=resource("templates/page.css"),
        script=resource("templates/page.js"),
        plotly=resource(PLOTLY),
    )


def _drawn(
    trace: Trace, step: Callable[[str], None]
) -> Iterator[tuple[str, Panel, Drawing | Nothing]]:
    loaded = list(panels.load())
    for number, (name, panel) in enumerate(loaded, 1):
        step(f"writing the report: {panel.title} ({number} of {len(loaded)})")
        yield name, panel, panel.draw(panel.read(trace))


def resource(path: str) -> str:
    """The text of a file of this package."""
    return resources.files("rlscope.report").joinpath(path).read_text(encoding="utf-8")


def _escape(text: str) -> str:
    return html.escape(units.visible(text))


def _detail(detail: headline.Detail) -> str:
    kind = "detail warning" if detail.warning else "detail"
    return f'<p class="{kind}">{_escape(detail.text)}</p>'


def _section(name: str, panel: Panel, drawing: Drawing) -> str:
    body = "\n".join(
        [f'<p class="note">{_escape(note)}</p>' for note in drawing.notes]
        + [_figure(chart) for chart in drawing.charts]
        + [_details(grid) for grid in drawing.grids]
    )
    return (
        f'<section id="{name}">\n<h2>{_escape(panel.title)}</h2>\n'
        f'<p class="question">{_escape(panel.question)}</p>\n{body}\n</section>'
    )


def _nothing(drawn: Sequence[tuple[str, Panel, Drawing | Nothing]]) -> str:
    """Panels without a section, a line each."""
    lines = [
        f"<li>{_escape(panel.title)}: {_escape(nothing.reason)}</li>"
        for _, panel, nothing in drawn
        if isinstance(nothing, Nothing) and nothing.reason
    ]
    if not lines:
        return ""
    return f"<aside><h2>Not in this run</h2>\n<ul>{''.join(lines)}</ul></aside>"


def _figure(chart: Chart) -> str:
    views = "\n".join(
        [_view(figure) for figure in chart.views.values()]
        + [
            _view(_difference(figure, chart.views[name]), ' class="corrected"')
            for name, figure in chart.corrected.items()
        ]
    )
    return (
        f'<figure id="{chart.key}">\n<div class="head">'
        f"<figcaption>{_escape(chart.title)}</figcaption>{_correct(chart)}{_select(chart)}</div>\n"
        f'<div class="chart" role="img" aria-label="{_escape(chart.title)}"></div>\n'
        f"{views}\n</figure>"
    )


def _difference(figure: Figure, other: Figure) -> Figure:
    """The figure without the parts of its layout that are the other one's, such as names."""
    layout = {
        key: value for key, value in figure["layout"].items() if value != other["layout"].get(key)
    }
    return {**figure, "layout": layout}


def _view(figure: Figure, kind: str = "") -> str:
    return f'<script type="application/json"{kind}>{_script_json(figure)}</script>'


def _correct(chart: Chart) -> str:
    if not chart.corrected:
        return ""
    return '<label><input type="checkbox" autocomplete="off"> without what recording cost</label>'


def _select(chart: Chart) -> str:
    if len(chart.views) < 2:
        return ""
    options = "".join(
        f'<option value="{_escape(name)}">{_escape(units.label(name))}</option>'
        for name in chart.views
    )
    # autocomplete off: a reloaded page shows what it draws, the first view.
    return f'<label>Show <select autocomplete="off">{options}</select></label>'


def _script_json(value: Any) -> str:
    """JSON that cannot end its <script> element, nor begin a comment in it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _details(grid: Grid) -> str:
    head = "".join(_heading(each) for each in grid.columns)
    right = [each.startswith(">") for each in grid.columns]
    body = "\n".join(_row(row, right) for row in grid.rows)
    shown = " open" if grid.open else ""
    return (
        f"<details{shown}><summary>{_escape(grid.title)}</summary>\n<div class='scroll'><table>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div></details>"
    )


def _heading(column: str) -> str:
    kind = ' class="number"' if column.startswith(">") else ""
    return f"<th{kind}>{_escape(column.removeprefix('>'))}</th>"


def _row(cells: Sequence[str], right: Sequence[bool]) -> str:
    return (
        "<tr>"
        + "".join(
            f'<td class="number">{_escape(cell)}</td>' if flush else f"<td>{_escape(cell)}</td>"
            for cell, flush in zip(cells, right, strict=True)
        )
        + "</tr>"
    )
