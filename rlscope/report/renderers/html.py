"""The page of a run: its panels in the order of the registry, below its headline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rlscope.report import answer, headline, limits, page, panels
from rlscope.report.panel import Drawing, Nothing, Panel

if TYPE_CHECKING:
    from rlscope.opening import Trace

_FOOTER = (
    "All times are wall-clock times. Every number comes from the tables of the trace. Ask them "
    'more with `rlscope query DIR "SELECT ..."`.'
)


def render(trace: Trace, *, step: Callable[[str], None] = lambda _: None) -> str:
    """The whole page; raises RlscopeError when a table cannot be read. `step` is called with the
    title of each panel before it is made."""
    drawn = list(_drawn(trace, step))
    summary = headline.read(trace)
    found = answer.read(trace, most=limits.FINDINGS)
    return page.render(
        page.Page(
            title=f"{summary.title} - rlscope",
            run=summary.run,
            about=summary.about,
            headline=found.leading or summary.sentence,
            fix=found.fix,
            beside=found.beside,
            where=summary.sentence if found.leading else "",
            findings=found.findings,
            rest=found.rest,
            generator=f"rlscope {summary.version}",
            first=[headline.Detail(each, warning=True) for each in summary.first],
            details=[
                *(each for each in summary.details if each.warning),
                *(headline.Detail(each, warning=True) for each in found.failures),
            ],
            folded=[each for each in summary.details if not each.warning],
            sections=[
                page.Section(name, each.title or panel.title, each.question or panel.question, each)
                for name, panel, each in drawn
                if isinstance(each, Drawing)
            ],
            absent_title="Not in this run",
            absent=[
                f"{panel.title}: {each.reason}"
                for _, panel, each in drawn
                if isinstance(each, Nothing) and each.reason
            ],
            footer=_FOOTER,
        )
    )


def _drawn(
    trace: Trace, step: Callable[[str], None]
) -> Iterator[tuple[str, Panel, Drawing | Nothing]]:
    loaded = list(panels.load())
    for number, (name, panel) in enumerate(loaded, 1):
        step(f"writing the report: {panel.title} ({number} of {len(loaded)})")
        yield name, panel, panel.draw(panel.read(trace))
