"""Several runs as one page: a table of them, their operations, iterations and timelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rlscope import _version
from rlscope.compare import iterations, words
from rlscope.compare.measured import Measured
from rlscope.compare.overlay import Overlay, Spread
from rlscope.report import limits, page, palette, units
from rlscope.report.figures.lines import Line, Row, lines
from rlscope.report.figures.ranges import Range, Ranges, ranges
from rlscope.report.headline import Detail
from rlscope.report.panel import Chart, Drawing, Figure, Grid
from rlscope.report.panels import timeline

RUNS = 16
"""Runs that are drawn; the table has all of them."""
_OPERATIONS = 10
_ABSENT = "-"
_FOOTER = (
    "All times are wall-clock times of the loop that waits least for others, per iteration. "
    "rlscope diff says which differences can be told from noise."
)


def render(overlay: Overlay) -> str:
    """The whole page."""
    charts = [*_timelines(overlay)]
    return page.render(
        page.Page(
            title="several runs - rlscope report",
            run=units.plural(len(overlay.runs), "run"),
            headline=_headline(overlay),
            generator=f"rlscope {_version.__version__}",
            first=[Detail(each, warning=True) for each in overlay.warnings],
            details=[*_details(overlay)],
            sections=[
                *_runs(overlay), *_operations(overlay), *_iterations(overlay),
                *_timeline_section(charts), *_findings(overlay),
            ],
            absent_title="Not in these runs",
            absent=[*_absent(overlay, charts)],
            footer=_FOOTER,
        )
    )  # fmt: skip


def _headline(overlay: Overlay) -> str:
    known = [
        (each.median, name)
        for each, name in zip(overlay.loops, overlay.names, strict=True)
        if each is not None
    ]
    if not known:
        return "No run has a complete iteration."
    (shortest, first), (longest, last) = min(known), max(known)
    if len(known) == 1:
        return f"The median iteration of {first} takes {units.duration(shortest)}."
    return (
        f"The median iteration takes {units.duration(shortest)} ({first}) to "
        f"{units.duration(longest)} ({last})."
    )


def _details(overlay: Overlay) -> Iterator[Detail]:
    if len(overlay.runs) > RUNS:
        yield Detail(f"The first {RUNS} runs are drawn; the table has all of them.")


def _runs(overlay: Overlay) -> Iterator[page.Section]:
    columns = [
        "run", "program", "its own arguments", ">length", ">iterations", ">per iteration",
        ">quartiles", "first finding",
    ]  # fmt: skip
    rows = [_run_cells(overlay, place) for place in range(min(len(overlay.runs), limits.ROWS))]
    grids = [Grid("runs, in the order in which they were named", columns, rows, True)]
    if overlay.facts:
        facts = [[kind, *values[: limits.ROWS]] for kind, values in overlay.facts[: limits.ROWS]]
        grids.append(
            Grid("what else they differ by", ["", *overlay.names[: limits.ROWS]], facts, True)
        )
    yield page.Section("runs", "Runs", "Which runs are these?", Drawing(grids=grids))


def _run_cells(overlay: Overlay, place: int) -> list[str]:
    run, loop = overlay.runs[place], overlay.loops[place]
    first = run.findings[0] if run.findings else None
    return [
        overlay.names[place],
        units.label(run.facts.get("program", _ABSENT), limits.PROGRAM_CHARACTERS),
        overlay.arguments[place] or _ABSENT,
        units.duration(run.run_ns),
        units.count(run.iterations),
        units.duration(loop.median) if loop else _ABSENT,
        f"{units.duration(loop.low)} to {units.duration(loop.high)}" if loop else _ABSENT,
        f"{first['title']} ({words.price(first['saving_share'])})" if first else _ABSENT,
    ]


def _drawn(overlay: Overlay) -> list[tuple[str, str, Measured]]:
    """Name, colour and run."""
    return [
        (name, palette.device_colour(place), run)
        for place, (name, run) in enumerate(zip(overlay.names, overlay.runs, strict=True))
    ][:RUNS]


def _operations(overlay: Overlay) -> Iterator[page.Section]:
    if not overlay.operations:
        return
    chosen = overlay.operations[:_OPERATIONS]
    series = [
        Ranges(name, colour, [_range(spreads[place]) for _, spreads in chosen])
        for place, (name, colour, _) in enumerate(_drawn(overlay))
    ]
    names = [units.operation(name) for name, _ in chosen]
    figure = ranges(names, series, "own time of an iteration")
    columns = ["operation", *(f">{name}" for name in overlay.names[: limits.ROWS])]
    rows = [
        [units.operation(name), *map(_cell, spreads[: limits.ROWS])]
        for name, spreads in overlay.operations[: limits.ROWS]
    ]
    caption = "Median iteration of each run, with the quartiles of its iterations"
    yield page.Section(
        "operations",
        "Operations",
        "In which operations do the runs differ?",
        Drawing(
            charts=[Chart("operations-chart", caption, {"all": figure})],
            grids=[Grid("own time of an iteration: median", columns, rows)],
        ),
    )


def _range(spread: Spread | None) -> Range | None:
    return None if spread is None else Range(spread.low, spread.median, spread.high)


def _cell(spread: Spread | None) -> str:
    return _ABSENT if spread is None else units.duration(spread.median)


def _iterations(overlay: Overlay) -> Iterator[page.Section]:
    drawn = [each for each in _drawn(overlay) if each[2].series]
    if drawn:
        yield page.Section(
            "iterations",
            "Iterations",
            "How long does a pass of the training loop take, and does it drift?",
            Drawing(
                charts=[
                    Chart(
                        "iterations-chart",
                        "Time of an iteration in each run",
                        {"all": _iteration_lines(drawn)},
                    )
                ]
            ),
        )


def _iteration_lines(drawn: Sequence[tuple[str, str, Measured]]) -> Figure:
    series = {run: iterations.loop_series(run) for _, _, run in drawn}
    longest = max(each.max() for each in series.values())
    divisor, unit = units.axis_unit(round(float(longest)))
    rows = [_line(name, colour, run, divisor, unit) for name, colour, run in drawn]
    return lines([Row(f"duration ({unit})", rows)], "iteration", counted=True)


def _line(name: str, colour: str, run: Measured, divisor: int, unit: str) -> Line:
    """Neighbours together where there are more iterations than points."""
    parts = np.array_split(
        iterations.loop_series(run), min(limits.POINTS, iterations.loop_series(run).size)
    )
    places = np.linspace(0, run.iterations, len(parts), endpoint=False)
    return Line(
        name,
        colour,
        places.tolist(),
        [float(part.mean()) / divisor for part in parts],
        f"%{{fullData.name}}, iteration %{{x:.0f}}: %{{y:.4~r}} {unit}",
    )


def _timelines(overlay: Overlay) -> Iterator[Chart]:
    views = {
        name: timeline.figure(list(run.timeline), [])
        for name, _, run in _drawn(overlay)
        if run.timeline
    }
    if views:
        yield Chart("timeline-chart", "Share of wall time over the run", views)


def _timeline_section(charts: Sequence[Chart]) -> Iterator[page.Section]:
    if charts:
        yield page.Section(
            "timelines", "Timelines", "When does the time go?", Drawing(charts=charts)
        )


def _findings(overlay: Overlay) -> Iterator[page.Section]:
    if overlay.findings:
        columns = ["finding", *(f">{name}" for name in overlay.names[: limits.ROWS])]
        rows = [
            [title, *map(words.price, prices[: limits.ROWS])]
            for title, prices in overlay.findings[: limits.ROWS]
        ]
        grid = Grid("findings, and what they are worth of the loop", columns, rows, True)
        yield page.Section("findings", "Findings", "What is there to mend?", Drawing(grids=[grid]))


def _absent(overlay: Overlay, charts: Sequence[Chart]) -> Iterator[str]:
    if not overlay.operations:
        yield "Operations and iterations: no run has a complete iteration."
    if not charts:
        yield "Timelines: no run has one."
    if not overlay.findings:
        yield "Findings: no run has any."
