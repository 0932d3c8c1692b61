"""survey.html: the look of `rlscope report`, over all cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rlscope._version import __version__
from rlscope.report import page
from rlscope.report.figures.amounts import amount_bars
from rlscope.report.headline import Detail
from rlscope.report.panel import Chart, Drawing, Grid
from rlscope.survey import cells, wording
from rlscope.survey import results as results_module
from rlscope.survey.claims import JudgedFinding
from rlscope.survey.pairs import pairs
from rlscope.survey.pictures import Picture, pictures
from rlscope.survey.results import Results

_TIMES = "All times are wall-clock times of training loops."
_TRACES = (
    "The trace of a run is in CELL/REPETITION beside this page, and opens with `rlscope report`."
)
_NUMBERS = "Each number is in these files:"


@dataclass(frozen=True)
class Beside:
    """What lies beside the page."""

    results: str = results_module.RESULTS
    rows: str = results_module.ROWS
    traces: bool = True
    plotly: str = ""
    """As of `rlscope.report.page.Page`."""


def render(results: Results, found: Sequence[JudgedFinding], beside: Beside = Beside()) -> str:
    """The file."""
    drawn = pictures(results, cells.experiments(each.cell for each in results.cells))
    failed = [each for each in results.cells if each.failure]
    return page.render(
        page.Page(
            title="Survey - rlscope",
            run=wording.command(results.plan, cells.EVERY),
            headline=wording.headline(results, found),
            generator=f"rlscope {__version__}",
            details=[*map(Detail, wording.conditions(results)), *_warnings(results)],
            sections=list(_sections(results, found, drawn)),
            absent_title="Not in this survey",
            absent=[
                *(f"{each.cell.name}: {each.failure}" for each in failed),
                *(f"{each.title}: {each.absence}" for each in drawn if each.absence),
            ],
            footer=" ".join([_TIMES, *([_TRACES] if beside.traces else []), _NUMBERS]),
            files=(beside.rows, beside.results),
            plotly=beside.plotly,
        )
    )


def _warnings(results: Results) -> Iterator[Detail]:
    if reason := wording.gpu_absence(results):
        yield Detail(reason)
    failed = [each.cell.name for each in results.cells if each.failure]
    if failed:
        yield Detail(f"Not all repetitions have numbers: {', '.join(failed)}.", warning=True)
    if results.plan.repetitions < 2:
        yield Detail("One repetition has no interval, so it decides nothing.", warning=True)


def _sections(
    results: Results, found: Sequence[JudgedFinding], drawn: Sequence[Picture]
) -> Iterator[page.Section]:
    if found:
        yield _findings(results, found)
    yield from _pairs(results)
    for picture in drawn:
        if not picture.absence:
            yield _picture(results, picture)
    yield from _processes(results)
    yield _cells(results)


def _findings(results: Results, found: Sequence[JudgedFinding]) -> page.Section:
    table = Grid(
        "Table: findings by number",
        wording.FINDING_COLUMNS,
        [row for each in found for row in wording.claim_rows(each, results)],
        open=True,
    )
    return page.Section(
        "findings",
        "Findings",
        "Which findings of the paper's survey hold here?",
        Drawing(notes=[wording.STATISTICS, wording.TIMES, *_remarks(found)], grids=[table]),
    )


def _pairs(results: Results) -> Iterator[page.Section]:
    if rows := [wording.pair_row(pair) for pair in pairs(results)]:
        table = Grid(
            "Table: ratios of pairs, mean over the repetitions with its 95 % interval",
            wording.PAIR_COLUMNS,
            rows,
            open=True,
        )
        yield page.Section(
            "pairs",
            "Pairs",
            "How do two cells of equal work differ, in time and in transitions into native code?",
            Drawing(notes=[wording.made_again(results.plan, "framework")], grids=[table]),
        )


def _picture(results: Results, picture: Picture) -> page.Section:
    figure = amount_bars(
        picture.names, picture.parts, picture.ends, picture.axis, picture.intervals
    )
    return page.Section(
        f"section-{picture.key}",
        picture.title,
        picture.axis,
        Drawing(
            notes=[wording.made_again(results.plan, picture.experiment)],
            charts=[Chart(picture.key, picture.title, {"all": figure})],
        ),
    )


def _processes(results: Results) -> Iterator[page.Section]:
    if rows := [row for each in results.of("scaleup") for row in wording.process_rows(each)]:
        table = Grid(
            "Table: processes of the first repetition, what a poller reports, and their time",
            wording.PROCESS_COLUMNS,
            rows,
            open=True,
        )
        yield page.Section(
            "processes",
            "Processes",
            "What did each process of the cells that scale up do?",
            Drawing(
                notes=[wording.PROCESSES, wording.made_again(results.plan, "scaleup")],
                grids=[table],
            ),
        )


def _cells(results: Results) -> page.Section:
    numbers = Grid(
        "Table: mean over the repetitions with its 95 % interval",
        wording.CELL_COLUMNS,
        [wording.cell_row(each) for each in results.cells],
        open=True,
    )
    commands = Grid(
        "Table: commands",
        ("cell", "command"),
        [
            (each.cell.name, each.runs[0].command if each.runs else each.cell.command)
            for each in results.cells
        ],
    )
    question = "What was run, and how did it go?"
    drawing = Drawing(notes=[wording.SHARES], grids=[numbers, commands])
    return page.Section("cells", "Cells", question, drawing)


def _remarks(found: Sequence[JudgedFinding]) -> list[str]:
    return [f"{each.finding.key}: {each.finding.remark}" for each in found if each.finding.remark]
