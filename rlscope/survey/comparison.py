"""One repetition of all cells, as findings compare it: by labels, per unit of work.

Cells run for equal times and not for equal work, so times are per environment step; per iteration
where no cell of a comparison tells its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rlscope.survey.cells import Cell
from rlscope.survey.results import Results
from rlscope.survey.runs import Row, Run


class Absent(Exception):
    """A repetition lacks what a finding compares; the message says what."""


class NeedsGpu(Absent):
    """What it lacks is GPU work."""


@dataclass(frozen=True)
class Ran:
    """A cell and one run of it with numbers."""

    cell: Cell
    run: Run

    def label(self, name: str) -> str:
        """The cell's; "" without it."""
        return self.cell.label(name)

    @property
    def task(self) -> tuple[str, str]:
        """What it learns, and where: equal work."""
        return self.label("algorithm"), self.label("environment")

    @property
    def units(self) -> int:
        """Of work: steps, or iterations.

        Raises Absent: neither is known.
        """
        units = self.run.steps or self.run.iterations
        if not units:
            raise Absent(f"{self.cell.name} counts neither steps nor iterations")
        return units

    def time(self, where: Callable[[Row], bool] = lambda _: True) -> float:
        """Nanoseconds per unit of work."""
        return self.run.time(where) / self.units

    def stage_time(self, *stages: str, layers: Sequence[str] | None = None) -> float:
        """Of some stages, in some layers or in all."""
        return self.time(
            lambda row: row.stage in stages and (layers is None or row.layer in layers)
        )

    def entries(self, *stages: str) -> float:
        """Into a framework's native code, per unit of work; of all stages where none is given.

        Raises Absent: no rate is known.
        """
        rates = [self.run.entries(stage) for stage in stages or (None,)]
        if None in rates:
            raise Absent(f"{self.cell.name} has no complete iteration")
        return sum(rate or 0.0 for rate in rates) * self.run.iterations / self.units

    def gpu_time(self, *stages: str) -> float:
        """While the GPU worked, per unit of work.

        Raises NeedsGpu: no GPU work was recorded.
        """
        if not self.run.has_gpu:
            raise NeedsGpu(f"{self.cell.name}: {self.run.gpu_absence}")
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
            described = " ".join(filter(None, [experiment, *labels.values()]))
            raise Absent(f"no cell of {described or 'the survey'} has numbers in all repetitions")
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
        if mixed := [one for one, other in found if bool(one.run.steps) != bool(other.run.steps)]:
            raise Absent(f"{mixed[0].cell.name} and its pair do not both tell their steps")
        if not found:
            raise Absent(f"no pair {_described(first)} against {_described(second)} has numbers")
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
