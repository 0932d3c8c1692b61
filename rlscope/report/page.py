"""What an HTML page of ours is made of: one self-contained file, nothing from the network. Only a
page that a repository keeps may have the plotly bundle beside it.

Everything that a user can name is escaped: texts of the page and JSON inside <script> elements by
`rlscope.report.markup`, texts inside figures by `rlscope.report.figures.layout.plain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template
from urllib.parse import quote

from rlscope.report import code_listing, finding_list, flame_graph
from rlscope.report.answer import Shown
from rlscope.report.headline import Detail
from rlscope.report.markup import escape, json_element, packed_element, prose, select, sentence
from rlscope.report.panel import Chart, Drawing, Figure, Grid

PLOTLY = "vendor/plotly-cartesian.min.js"
_LONG = 160
"""A cell of more characters than this holds sentences, and the page gives it a wide column."""
_TWO_LINES = 300
_BETWEEN_LINKS = 3
"""Characters of two lines of links, and of the room between two links."""
_SHORT = 24
"""A column whose cells have at most so many characters is not broken."""


@dataclass(frozen=True)
class Section:
    """One part of a page, with its place in the contents."""

    name: str
    """Unique in the page; letters, digits and hyphens."""
    title: str
    question: str
    drawing: Drawing


@dataclass(frozen=True)
class Page:
    """Texts, which are escaped, and drawings."""

    title: str
    """The title of the window."""
    run: str
    """What it is about: small, above the headline."""
    headline: str
    generator: str
    """Name and version of the program."""
    details: Sequence[Detail]
    sections: Sequence[Section]
    absent_title: str
    absent: Sequence[str]
    """What has no section, a line each."""
    footer: str
    files: Sequence[str] = ()
    """Names of files beside the page, which its end links."""
    first: Sequence[Detail] = ()
    """Above the headline."""
    plotly: str = ""
    """Path from the page to the plotly bundle; "": the page holds the bundle itself."""
    about: str = ""
    """Above `run`: name, date and place."""
    fix: str = ""
    """Below the headline: how to mend what it names."""
    beside: str = ""
    """Below that: what no rule knows."""
    where: str = ""
    """Below that: where the time goes."""
    findings: Sequence[Shown] = ()
    """What to mend first."""
    rest: str = ""
    """What else there is to mend."""
    folded: Sequence[Detail] = ()
    """Details that the reader unfolds."""


def render(page: Page) -> str:
    """The file."""
    template = Template(resource("templates/page.html"))
    return template.substitute(
        generator=escape(page.generator),
        title=escape(page.title),
        cut="\n".join(map(_detail, page.first)),
        about=_paragraph("about", page.about),
        run=prose(page.run),
        headline=sentence(page.headline),
        where="\n".join(
            [
                _paragraph("fix", page.fix),
                _paragraph("beside", page.beside),
                _paragraph("where", page.where),
            ]
        ),
        findings=finding_list.render(page.findings, page.rest, is_fix_said=bool(page.fix)),
        details="\n".join(map(_detail, page.details)),
        folded=_folded(page.folded),
        nav=_stickiness(page.sections),
        contents=" ".join(
            f'<a href="#{each.name}">{escape(each.title)}</a>' for each in page.sections
        ),
        panels="\n".join(map(_section, page.sections)),
        nothing=_absent(page.absent_title, page.absent),
        footer=" ".join([sentence(page.footer), *map(_link, page.files)]),
        css=resource("templates/page.css"),
        script="\n".join(map(resource, _scripts(page.sections))),
        plotly=_plotly(page.plotly),
        plotly_from="file: 'self'" if page.plotly else "",
    )


def _stickiness(sections: Sequence[Section]) -> str:
    """Contents of two lines at most stay in sight; more would hide the page."""
    width = sum(len(each.title) + _BETWEEN_LINKS for each in sections)
    return ' class="sticky"' if width <= _TWO_LINES else ""


def _scripts(sections: Sequence[Section]) -> Iterator[str]:
    """Those that the page needs."""
    drawn = [each.drawing for each in sections]
    yield "templates/page.js"
    codes, flames = any(each.codes for each in drawn), any(each.flames for each in drawn)
    if codes or flames:
        yield "templates/amounts.js"
    if codes:
        yield "templates/code.js"
    if flames:
        yield "templates/flame.js"


def resource(path: str) -> str:
    """The text of a file of this package."""
    return resources.files("rlscope.report").joinpath(path).read_text(encoding="utf-8")


def _plotly(path: str) -> str:
    if path:
        return f'<script src="{escape(quote(path))}"></script>'
    return _packed_plotly()


@cache  # to compress it takes a twentieth of a second
def _packed_plotly() -> str:
    bundle = resource(PLOTLY)
    notice, end, _ = bundle.partition("*/")
    return f"<script>{notice}{end}</script>\n{packed_element(bundle, 'plotly')}"


def _link(name: str) -> str:
    return f'<a href="{escape(quote(name))}">{escape(name)}</a>'


def _detail(detail: Detail) -> str:
    return _paragraph("detail warning" if detail.warning else "detail", detail.text)


def _folded(details: Sequence[Detail]) -> str:
    if not details:
        return ""
    texts = "\n".join(map(_detail, details))
    return f"<details><summary>The run in words</summary>\n{texts}\n</details>"


def _paragraph(kind: str, text: str) -> str:
    return f'<p class="{kind}">{sentence(text)}</p>' if text else ""


def _absent(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    rows = "".join(f"<li>{sentence(line)}</li>" for line in lines)
    return f"<aside><h2>{prose(title)}</h2>\n<ul>{rows}</ul></aside>"


def _section(section: Section) -> str:
    drawing = section.drawing
    body = "\n".join(
        [_figure(chart) for chart in drawing.charts]
        + [_paragraph("note", note) for note in drawing.notes]
        + [flame_graph.render(flame) for flame in drawing.flames]
        + [code_listing.render(code) for code in drawing.codes]
        + [_details(grid) for grid in drawing.grids]
    )
    return (
        f'<section id="{section.name}">\n<h2>{prose(section.title)}</h2>\n'
        f'<p class="question">{prose(section.question)}</p>\n{body}\n</section>'
    )


def _figure(chart: Chart) -> str:
    views = "\n".join(
        [json_element(figure) for figure in chart.views.values()]
        + [
            json_element(_difference(figure, chart.views[name]), ' class="corrected"')
            for name, figure in chart.corrected.items()
        ]
    )
    return (
        f'<figure id="{chart.key}">\n<div class="head">'
        f"<figcaption>{prose(chart.title)}</figcaption>{_correct(chart)}{_select(chart)}</div>\n"
        f'<div class="chart" role="group" aria-label="{escape(chart.title)}"></div>\n'
        f"{views}\n</figure>"
    )


def _difference(figure: Figure, other: Figure) -> Figure:
    """The figure without the parts of its layout that are the other one's, such as names."""
    layout = {
        key: value for key, value in figure["layout"].items() if value != other["layout"].get(key)
    }
    return {**figure, "layout": layout}


def _correct(chart: Chart) -> str:
    if not chart.corrected:
        return ""
    return '<label><input type="checkbox" autocomplete="off"> without what recording cost</label>'


def _select(chart: Chart) -> str:
    return select(chart.views) if len(chart.views) > 1 else ""


def _details(grid: Grid) -> str:
    head = "".join(_heading(each) for each in grid.columns)
    kinds = [
        _kind(each, [row[place] for row in grid.rows]) for place, each in enumerate(grid.columns)
    ]
    body = "\n".join(_row(row, kinds) for row in grid.rows)
    shown = " open" if grid.open else ""
    title = prose(grid.title)
    return (
        f"<details{shown}><summary>{title}</summary>\n"
        f'<div class="scroll" tabindex="0" role="group" aria-label="{title}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div></details>"
    )


def _heading(column: str) -> str:
    kind = ' class="number"' if column.startswith(">") else ""
    return f"<th{kind}>{prose(column.removeprefix('>'))}</th>"


def _kind(column: str, cells: Sequence[str]) -> str:
    """The class of a column's cells."""
    if column.startswith(">"):
        return "number"
    longest = max(map(len, cells), default=0)
    return "long" if longest > _LONG else "short" if longest <= _SHORT else "text"


def _row(cells: Sequence[str], kinds: Sequence[str]) -> str:
    return "".join(["<tr>", *map(_cell, cells, kinds), "</tr>"])


def _cell(text: str, kind: str) -> str:
    return f'<td class="{kind}">{prose(text)}</td>'
