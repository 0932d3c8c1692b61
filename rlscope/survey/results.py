"""All that a survey found: results.json, which remakes every page, and cells.csv.

DIR/survey.json               what was asked for, and which cells cannot run here
DIR/<cell>/<repetition>       a trace
DIR/<cell>/<repetition>.json  its numbers, or why there are none
DIR/<cell>/<repetition>.log   what the program printed
DIR/results.json, cells.csv   the numbers together
DIR/survey.html, survey.md    the pages made of them
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rlscope.costs import inflation
from rlscope.errors import RlscopeError
from rlscope.survey import cells as cells_module
from rlscope.survey import runs as runs_module
from rlscope.survey.cells import Cell
from rlscope.survey.runs import Row, Run
from rlscope.table import Table

FORMAT = "rlscope survey 1"
RESULTS, ROWS, PLAN = "results.json", "cells.csv", "survey.json"
_MOST_BYTES = 1 << 30
_LARGEST_LOGARITHM = 700.0


@dataclass(frozen=True)
class Plan:
    """What was asked for."""

    repetitions: int
    window: float
    """Seconds of recording of each run."""
    limit: float
    """Seconds after which a run is ended that does not end by itself."""
    calibration: float
    """Seconds of `rlscope calibrate` for each program; 0: it was not run."""
    quick: bool
    arguments: tuple[str, ...] = ()
    """The arguments of `rlscope survey` that make it again."""
    device: str = ""
    """Where the networks of the cells were that take it; "" in results that do not say."""


@dataclass(frozen=True)
class CellResult:
    """One cell with its runs."""

    cell: Cell
    runs: Sequence[Run] = ()
    absence: str = ""
    """Why it was not run; "" where it was."""

    @property
    def good(self) -> list[Run]:
        """Those with numbers, in order of their repetition."""
        return [run for run in self.runs if not run.error]

    @property
    def failure(self) -> str:
        """Why it has no numbers, or not of all repetitions; "" where it has."""
        errors = [run.error for run in self.runs if run.error]
        return self.absence or (errors[0] if errors else "")


@dataclass(frozen=True)
class Results:
    """A survey."""

    plan: Plan
    cells: Sequence[CellResult] = field(default=())

    def of(self, experiment: str) -> list[CellResult]:
        """The cells of an experiment."""
        return [each for each in self.cells if experiment in each.cell.experiment]

    @property
    def repetitions(self) -> list[int]:
        """Those in which a run has numbers."""
        return sorted({run.repetition for each in self.cells for run in each.good})

    @property
    def machine(self) -> Mapping[str, Any]:
        """The host of the runs; empty without runs."""
        return next((run.machine for each in self.cells for run in each.good), {})

    @property
    def libraries(self) -> dict[str, str]:
        """Versions of what the cells need, by package."""
        found: dict[str, str] = {}
        for each in self.cells:
            for run in each.good:
                found.update(run.libraries)
        return dict(sorted(found.items()))


@dataclass(frozen=True)
class Value:
    """The mean over repetitions with the 95 % interval of that, by Student's t."""

    mean: float
    low: float | None
    high: float | None
    """None: one repetition has no interval."""
    repetitions: int


def value_of(values: Sequence[float]) -> Value | None:
    """None: there is no value."""
    if not values:
        return None
    if len(values) == 1:
        return Value(values[0], None, None, 1)
    found = inflation.combined(values)
    return Value(found.mean, found.low, found.high, len(values))


def value_of_amounts(values: Sequence[float]) -> Value | None:
    """The same of what cannot be below 0, like times and rates: its interval is not, either."""
    found = value_of(values)
    if found is None or found.low is None:
        return found
    return replace(found, low=max(0.0, found.low))


def value_of_ratios(values: Sequence[float]) -> Value | None:
    """The same of ratios, by their logarithms: a ratio and its inverse then say the same, and no
    interval reaches below 0. As value_of() where one of them is 0."""
    if not values or min(values) <= 0:
        return value_of(values)
    found = value_of([math.log(each) for each in values])
    if found is None or found.low is None or found.high is None:
        return value_of(values)
    low, high = (_exponential(end) for end in (found.low, found.high))
    return Value(math.exp(found.mean), low, high, found.repetitions)


def _exponential(value: float) -> float:
    """If two repetitions differ much, no number could hold the end of the interval."""
    return math.exp(min(value, _LARGEST_LOGARITHM))


def to_text(results: Results) -> str:
    """results.json, with a line for each run: some thousand numbers, of which no part is edited."""
    cells = ",\n".join(map(_cell_text, results.cells))
    plan = json.dumps(asdict(results.plan))
    return f'{{"format": "{FORMAT}",\n"plan": {plan},\n"cells": [\n{cells}\n]}}\n'


def _cell_text(each: CellResult) -> str:
    runs = ",\n".join(json.dumps(run.to_json(), separators=(",", ":")) for run in each.runs)
    cell, absence = json.dumps(each.cell.to_json()), json.dumps(each.absence)
    return f'{{"cell": {cell}, "absence": {absence}, "runs": [\n{runs}]}}'


def read(path: str | Path) -> Results:
    """The results in a file.

    Raises RlscopeError: it cannot be read, or holds none.
    """
    try:
        with open(path, "rb") as file:
            kept = json.loads(file.read(_MOST_BYTES))
        if kept["format"] != FORMAT:
            raise ValueError("it is of another release of rlscope")
        plan = dict(kept["plan"])
        plan["arguments"] = tuple(plan.get("arguments", ()))
        return Results(
            Plan(**plan),
            [
                CellResult(
                    cells_module.from_json(each["cell"]),
                    [runs_module.from_json(run) for run in each["runs"]],
                    each["absence"],
                )
                for each in kept["cells"]
            ],
        )
    except OSError as error:
        raise RlscopeError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RlscopeError(f"{path} holds no results of a survey: {error}") from error


def table(results: Results) -> Table:
    """cells.csv: one row per cell, repetition, process, operation, layer and GPU activity. Times
    are those of the training loop of the process; per iteration and step they are of the corrected
    time, and stand in rows of the training process only."""
    return Table.from_rows(_COLUMNS, _rows(results), name="cells")


_COLUMNS = (
    "cell", "experiment", "algorithm", "framework", "mode", "environment", "policy",
    "repetition", "process", "training", "operation", "stage", "layer", "gpu_busy", "duration_ns",
    "corrected_ns", "corrected_low_ns", "corrected_high_ns", "iterations", "steps",
    "per_iteration_ns", "per_step_ns", "into_layer_per_iteration", "cost_percent", "processes",
    "gpu_absence", "error",
)  # fmt: skip
_LABELS = ("algorithm", "framework", "mode", "environment", "policy")


def _rows(results: Results) -> Iterator[list[Any]]:
    for each in results.cells:
        of_cell = [
            each.cell.name,
            " ".join(each.cell.experiment),
            *(each.cell.label(name) or None for name in _LABELS),
        ]
        if not each.runs:
            yield [*of_cell, *[None] * (len(_COLUMNS) - len(of_cell) - 1), each.absence or None]
        for run in each.runs:
            yield from ([*of_cell, run.repetition, *row] for row in _rows_of_run(run))


def _rows_of_run(run: Run) -> Iterator[list[Any]]:
    if run.error:
        yield [*[None] * (len(_COLUMNS) - len(_LABELS) - 4), run.error]
        return
    cost = run.cost
    loop = {id(row) for row in run.loop}
    for row in run.rows:
        trains = id(row) in loop
        yield [
            _process(run, row),
            trains if loop else None,
            row.operation,
            row.stage,
            row.layer,
            row.gpu_busy if run.has_gpu else None,
            row.duration_ns,
            row.corrected_ns,
            row.corrected_low_ns,
            row.corrected_high_ns,
            run.iterations,
            run.steps,
            row.ns / run.iterations if trains and run.iterations else None,
            row.ns / run.steps if trains and run.steps else None,
            _entries(run, row.operation, row.layer) if trains else None,
            100 * cost[0] if cost is not None else None,
            len(run.processes),
            run.gpu_absence or None,
            None,
        ]


def _process(run: Run, row: Row) -> str | None:
    """Its name; None: the row is a sum over several."""
    if row.process is not None:
        return run.processes[row.process].name
    return run.processes[0].name if len(run.processes) == 1 else None


def _entries(run: Run, operation: str, layer: str) -> float | None:
    """Per iteration; the same in the rows of an operation and layer that differ in GPU activity."""
    if not run.iterations:
        return None
    return sum(
        each.per_iteration or 0.0
        for each in run.crossings
        if each.operation == operation and each.to_layer == layer
    )


def median(values: Iterable[float]) -> float | None:
    """None of nothing."""
    found = list(values)
    return statistics.median(found) if found else None
