"""One repetition of all cells, as findings compare it: by labels, per unit of work.

Cells run for equal times and not for equal work, so times are per environment step, or per
iteration where a cell does not tell its steps. Entries into native code are per iteration, as in
the paper. Only cells are paired whose iterations have the same number of steps, so that both ratios
are of the same work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rlscope.survey.cells import Cell
from rlscope.survey.results import Results
from rlscope.survey.runs import Row, Run


class Absent(Exception):
    """A repetition lacks what a finding compares; the message says what."""


class NeedsGpu(Absent):
    """What it lacks is GPU work."""


@dataclass(frozen=True)
class Number:
    """What a claim is about, in one repetition."""

    value: float
    by: tuple[str, ...] = ()
    """The cells that it is of: one, or the first over the second; empty: all."""


def least(numbers: Iterable[Number]) -> Number:
    """The one with the smallest value."""
    return min(numbers, key=lambda number: number.value)


def most(numbers: Iterable[Number]) -> Number:
    """The one with the largest value."""
    return max(numbers, key=lambda number: number.value)


@dataclass(frozen=True)
class Ran:
    """A cell and one run of it with numbers."""

    cell: Cell
    run: Run

    def label(self, name: str) -> str:
        """The cell's; "" without it."""
        return self.cell.label(name)

    @property
    def name(self) -> str:
        """The name of the cell."""
        return self.cell.name

    @property
    def task(self) -> tuple[str, str, int | None]:
        """What it learns, where, and with how many steps of an iteration: equal work."""
        return self.label("algorithm"), self.label("environment"), self.cell.steps

    @property
    def units(self) -> int:
        """How many units of work: steps, or iterations.

        Raises Absent: neither is known.
        """
        units = self.run.steps or self.run.iterations
        if not units:
            raise Absent(f"{self.name} counts neither steps nor iterations")
        return units

    def time(self, where: Callable[[Row], bool] = lambda _: True) -> float:
        """Nanoseconds of the training process per unit of work.

        Raises Absent: they were not measured.
        """
        if not self.run.loop:
            raise Absent(f"not measured: the time of the training process of {self.name}")
        return self.run.time(where) / self.units

    def share(self, stage: str) -> float:
        """As a part of the training loop.

        Raises Absent: it was not measured.
        """
        if not self.run.ns:
            raise Absent(f"not measured: the time of the training process of {self.name}")
        return self.run.share(stage)

    def stage_time(self, *stages: str, layers: Sequence[str] | None = None) -> float:
        """Time of some stages, in some layers or in all."""
        return self.time(
            lambda row: row.stage in stages and (layers is None or row.layer in layers)
        )

    def entries(self, *stages: str) -> float:
        """Into a framework's native code, in an iteration; of all stages where none is given.

        Raises Absent: no rate is known.
        """
        rates = [self.run.entries(stage) for stage in stages or (None,)]
        if None in rates:
            raise Absent(f"{self.name} has no complete iteration")
        return sum(rate or 0.0 for rate in rates)

    def gpu_time(self, *stages: str) -> float:
        """While the GPU worked, per unit of work.

        Raises NeedsGpu: no GPU work was recorded.
        """
        if not self.run.has_gpu:
            raise NeedsGpu(f"{self.name}: {self.run.gpu_absence}")
        return self.time(lambda row: bool(row.gpu_busy) and (not stages or row.stage in stages))


@dataclass(frozen=True)
class Repetition:
    """All cells that have numbers in one repetition."""

    number: int
    ran: Sequence[Ran]

    def where(self, experiment: str = "", **labels: str) -> list[Ran]:
        """The cells with these labels."""
        return [
            each
            for each in self.ran
            if (not experiment or experiment in each.cell.experiment)
            and all(each.label(name) == value for name, value in labels.items())
        ]

    def some(self, experiment: str = "", **labels: str) -> list[Ran]:
        """The same; raises Absent: there is none."""
        found = self.where(experiment, **labels)
        if not found:
            described = " ".join(filter(None, [experiment, *labels.values()])) or "the survey"
            raise Absent(f"not measured: no cell of {described} has numbers of all repetitions")
        return found

    def pairs(self, first: dict[str, str], second: dict[str, str]) -> list[tuple[Ran, Ran]]:
        """Every two of the framework experiment with these labels that do equal work.

        Raises Absent: there are none.
        """
        found = [
            (one, other)
            for one in self.where("framework", **first)
            for other in self.where("framework", **second)
            if one.task == other.task and one is not other
        ]
        if not found:
            compared = f"{_described(first)} against {_described(second)}"
            raise Absent(f"not measured: no pair {compared} has numbers")
        return found


def repetitions(results: Results) -> Iterator[Repetition]:
    """Those with any numbers, in order. Every one has the cells that all of them have: with others
    the repetitions of one finding would be of different things."""
    numbers = results.repetitions
    complete = [each for each in results.cells if [run.repetition for run in each.good] == numbers]
    for place, number in enumerate(numbers):
        yield Repetition(number, [Ran(each.cell, each.good[place]) for each in complete])


def ratio(first: float, second: float, what: str) -> float:
    """Raises Absent: the second is 0."""
    if not second:
        raise Absent(f"{what} is 0")
    return first / second


def _described(labels: dict[str, str]) -> str:
    return " ".join(labels.values()) or "any"
