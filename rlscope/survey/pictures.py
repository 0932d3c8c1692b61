"""The figures of a survey as numbers, which the page and the article draw each in their way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rlscope.report import palette, units
from rlscope.report.figures.amounts import Interval, Part
from rlscope.report.layers import label as layer_label
from rlscope.survey.results import CellResult, Results, value_of, value_of_amounts
from rlscope.survey.runs import (
    INFERENCE,
    LEARNING,
    OTHER,
    SIMULATION,
    STAGES,
    Reading,
    Run,
)

STAGE_COLOURS = {
    SIMULATION: palette.LAYERS["simulator"],
    INFERENCE: palette.LAYERS["wait"],
    LEARNING: palette.LAYERS["framework"],
    OTHER: palette.LAYERS["none"],
}
UNMEASURED = "not measured"
_POLLED, _RECORDED = palette.STATES["gpu"], palette.ACCENT
# Devices and processes of a cell in the figure on scale-up, those with the most CPU time first.
_READINGS = 10


@dataclass(frozen=True)
class Picture:
    """Horizontal bars of parts."""

    key: str
    title: str
    axis: str
    """What a bar's length is, with its unit."""
    names: Sequence[str]
    parts: Sequence[Part]
    ends: Sequence[str]
    """Written at the ends of the bars."""
    experiment: str
    """The one that makes it again."""
    absence: str = ""
    """Why it has no bar; "" where it has."""
    intervals: Sequence[Interval] = ()
    """One for each bar, at its axis; if a part is compared, the interval is that of the part."""
    of: str = ""
    """What the intervals are of; "" without any."""


def pictures(results: Results, experiments: Sequence[str]) -> list[Picture]:
    """Those of the paper, then the times of every further experiment."""
    known = ("framework", "algorithm", "simulator")
    further = [name for name in experiments if name not in (*known, "scaleup")]
    return [
        times(results, "framework"),
        transitions(results, "framework"),
        shares(results, "algorithm"),
        times(results, "algorithm"),
        shares(results, "simulator"),
        times(results, "simulator"),
        scale_up(results),
        times(results, "scaleup"),
        *(times(results, name) for name in further),
    ]


def times(results: Results, experiment: str) -> Picture:
    """Time of one unit of work by stage and layer: a bar for each stage of each cell."""
    rows = [
        (each, stage)
        for each in _with_numbers(results, experiment)
        for stage in STAGES
        if not _measured(each) or any(row.stage == stage for run in each.good for row in run.loop)
    ]
    # A cell without such times has one bar, which says so.
    rows = [row for row in rows if _measured(row[0]) or row[1] == STAGES[0]]
    layers = list(
        dict.fromkeys(
            [*palette.LAYERS, *(r.layer for each, _ in rows for run in each.good for r in run.loop)]
        )
    )
    parts = [
        Part(
            layer_label(layer, False),
            palette.layer_colour(layer),
            [_mean(each, _time_of(stage, layer)) / 1000 for each, stage in rows],
        )
        for layer in layers
    ]
    return _picture(
        f"times-{experiment}",
        f"Time of a step by operation and layer: {experiment}",
        "time per environment step, or per iteration where steps are not known (µs)",
        [
            f"{each.cell.name}: {stage}" if _measured(each) else each.cell.name
            for each, stage in rows
        ],
        parts,
        [
            _end(each, f"{units.duration(_mean(each, _time_of(stage, None)))} {unit_of(each)}")
            for each, stage in rows
        ],
        experiment,
        [_interval(each, _time_of(stage, None), 1000) for each, stage in rows],
        "the whole bar",
    )


def transitions(results: Results, experiment: str) -> Picture:
    """Entries into a framework's native code, by stage."""
    found = [
        each
        for each in _with_numbers(results, experiment)
        if all(run.iterations for run in each.good)
    ]
    parts = [
        Part(stage, STAGE_COLOURS[stage], [_mean(each, _entries_of(stage)) for each in found])
        for stage in STAGES
    ]
    totals = [sum(part.values[place] for part in parts) for place in range(len(found))]
    return _picture(
        f"transitions-{experiment}",
        f"Transitions into a framework's native code: {experiment}",
        "transitions per iteration of the training process",
        [each.cell.name for each in found],
        parts,
        [units.count(round(total, 1)) for total in totals],
        experiment,
        [_interval(each, _entries_of(None)) for each in found],
        "the whole bar",
    )


def shares(results: Results, experiment: str) -> Picture:
    """Shares of the training loop, by stage."""
    found = list(_with_numbers(results, experiment))
    parts = [
        Part(
            stage,
            STAGE_COLOURS[stage],
            [100 * _mean(each, _share_of(stage)) for each in found],
        )
        for stage in STAGES
    ]
    simulated = parts[STAGES.index(SIMULATION)].values
    return _picture(
        f"shares-{experiment}",
        f"Shares of the training loop: {experiment}",
        "share of the training loop (%)",
        [each.cell.name for each in found],
        parts,
        [
            _end(each, f"{SIMULATION} {value:.1f} %")
            for each, value in zip(found, simulated, strict=True)
        ],
        experiment,
        [_interval(each, _share_of(SIMULATION), 1 / 100) for each in found],
        SIMULATION,
    )


def scale_up(results: Results) -> Picture:
    """What pollers said of processes, cores and GPUs, and beside it what was recorded."""
    rows: list[tuple[str, float, float]] = []
    for each in _with_numbers(results, "scaleup"):
        for reading in each.good[0].readings[:_READINGS]:
            name = f"{each.cell.name}: {reading.name}"
            rows.append((f"{name}, polled", reading.polled_percent, 0.0))
            if reading.machine_percent is not None:
                rows.append((f"{each.cell.name}: all cores, polled", reading.machine_percent, 0.0))
            if reading.busy_percent is not None:
                rows.append((f"{name}, {_how_busy(reading)}", 0.0, reading.busy_percent))
    return _picture(
        "scaleup",
        "Utilisation in the first repetition: what a poller reports, and what was recorded then",
        "share of a GPU, or of one core (%)",
        [name for name, *_ in rows],
        [
            Part("polled", _POLLED, [polled for _, polled, _ in rows]),
            Part("recorded", _RECORDED, [recorded for *_, recorded in rows]),
        ],
        [f"{polled + recorded:.1f} %" for _, polled, recorded in rows],
        "scaleup",
    )


def _how_busy(reading: Reading) -> str:
    return "GPU work ran" if reading.kind == "gpu" else "not waiting"


def _picture(
    key: str,
    title: str,
    axis: str,
    names: Sequence[str],
    parts: Iterable[Part],
    ends: Sequence[str],
    experiment: str,
    intervals: Sequence[Interval] = (),
    of: str = "",
) -> Picture:
    absence = "" if names else f"no cell of {experiment} has numbers"
    shown = [part for part in parts if any(part.values)]
    known = of if any(intervals) else ""
    if known:
        axis = f"{axis}; lines: 95 % intervals of {known}"
    return Picture(
        key, title, axis, names, shown, ends, experiment, absence, intervals if known else (), known
    )


def _with_numbers(results: Results, experiment: str) -> Iterable[CellResult]:
    return (each for each in results.of(experiment) if each.good)


def _measured(each: CellResult) -> bool:
    """Whether times of its training process are known."""
    return all(run.loop for run in each.good)


def _end(each: CellResult, text: str) -> str:
    return text if _measured(each) else UNMEASURED


def unit_of(each: CellResult) -> str:
    """What its times are of, in words."""
    run = each.good[0]
    return "a step" if run.steps else "an iteration" if run.iterations else "in all"


def units_of(run: Run) -> int:
    """How many units of work: steps, else iterations, else the run itself."""
    return run.steps or run.iterations or 1


def _time_of(stage: str, layer: str | None) -> Callable[[Run], float]:
    def time(run: Run) -> float:
        found = run.time(lambda row: row.stage == stage and layer in (None, row.layer))
        return found / units_of(run)

    return time


def _share_of(stage: str) -> Callable[[Run], float]:
    return lambda run: run.share(stage)


def _entries_of(stage: str | None) -> Callable[[Run], float]:
    return lambda run: run.entries(stage) or 0.0


def _mean(each: CellResult, of: Callable[[Run], float]) -> float:
    value = value_of([of(run) for run in each.good])
    return value.mean if value is not None else 0.0


def _interval(each: CellResult, of: Callable[[Run], float], unit: float = 1) -> Interval:
    value = value_of_amounts([of(run) for run in each.good]) if _measured(each) else None
    if value is None or value.low is None or value.high is None:
        return None
    return value.low / unit, value.high / unit
