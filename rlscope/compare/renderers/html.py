"""A comparison as a page: the table of operations, both flame graphs in one, both timelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlscope import _version
from rlscope.analysis.difference_verdicts import Gated
from rlscope.compare import flames, words
from rlscope.compare.comparison import Comparison
from rlscope.compare.gate import Gate
from rlscope.compare.measured import Measured
from rlscope.compare.renderers.text import tables
from rlscope.report import page
from rlscope.report.headline import Detail
from rlscope.report.panel import Chart, Drawing, Grid
from rlscope.report.panels import timeline

_ROWS = 60
_QUESTIONS = {
    "operation": "Which operations became slower or faster?",
    "layer": "In which layers?",
    "source line": "In which lines of the program?",
    "kernel": "Which kernels?",
    "transition": "How much more often does the program cross between layers?",
}
_FOOTER = (
    "All times are wall-clock times of the loop that waits least for others. Intervals hold "
    "together: docs/reference/semantics.md, Comparing runs."
)


def render(comparison: Comparison, gate: Gate | None) -> str:
    """The whole page."""
    return page.render(
        page.Page(
            title="base and new - rlscope diff",
            run="; ".join(words.sides(comparison)),
            headline=words.headline(comparison),
            generator=f"rlscope {_version.__version__}",
            first=[*_environment(comparison), *_warnings(comparison)],
            details=[*_gate(gate), *_whole(comparison)],
            sections=[*_sections(comparison)],
            absent_title="Not in these runs",
            absent=_absent(comparison),
            footer=_FOOTER,
        )
    )


def _environment(comparison: Comparison) -> Iterator[Detail]:
    for each in comparison.environment:
        base, new = (", ".join(side) for side in (each.base, each.new))
        yield Detail(f"{each.kind} differs: {base} and {new}", warning=True)


def _warnings(comparison: Comparison) -> Iterator[Detail]:
    return (Detail(each, warning=True) for each in comparison.warnings)


def _gate(gate: Gate | None) -> Iterator[Detail]:
    if gate is not None:
        yield Detail(words.gate(gate), warning=gate.outcome != Gated.PASSES)


def _whole(comparison: Comparison) -> Iterator[Detail]:
    return map(Detail, (*words.whole(comparison), *words.drift(comparison)))


def _sections(comparison: Comparison) -> Iterator[page.Section]:
    for title, rows, counted, _ in tables(comparison):
        if rows:
            heads, cells = words.grid(title, rows[:_ROWS], counted=counted)
            grid = Grid(f"{title}s, by their part of the change", heads, cells, True)
            name = title.replace(" ", "-")
            yield page.Section(
                f"{name}s", f"{title.capitalize()}s", _QUESTIONS[title], Drawing(grids=[grid])
            )
        if title == "operation":
            yield from _flame(comparison)
    found = list(words.findings(comparison))
    if found:
        grid = Grid("findings, and what they are worth", words.FINDING_COLUMNS, found, True)
        yield page.Section("findings", "Findings", "What is there to mend?", Drawing(grids=[grid]))
    charts = [*_timelines("base", comparison.base), *_timelines("new", comparison.new)]
    if charts:
        yield page.Section(
            "timelines", "Timelines", "When does the time go?", Drawing(charts=charts)
        )


def _flame(comparison: Comparison) -> Iterator[page.Section]:
    flame = flames.differential(comparison.sides, comparison.sources)
    if flame is not None:
        note = (
            "A call is as wide as its time on the chosen side. Its colour is the change of its own "
            "time, with all that it called. These are estimates, and small calls differ by chance."
        )
        yield page.Section(
            "flame",
            "Differential flame graph",
            "In which calls?",
            Drawing(notes=[note], flames=[flame]),
        )


def _timelines(name: str, side: Sequence[Measured]) -> Iterator[Chart]:
    """A view for each run that has a timeline."""
    views = {
        run.directory: timeline.figure(list(run.timeline), [])
        for run in side[:_VIEWS]
        if run.timeline
    }
    if views:
        yield Chart(f"{name}-timeline", f"{name}: share of wall time over the run", views)


_VIEWS = 6
"""Runs of a side with a timeline."""


def _absent(comparison: Comparison) -> list[str]:
    return [
        f"{title.capitalize()}s: no run has any."
        for title, rows, _, _ in tables(comparison)
        if not rows
    ]
