"""The breakdowns of one process and its time by stacks, which wait for the costs of records: those
are the run's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rlscope import _trace
from rlscope.costs.record_costs import Calibration
from rlscope.relations.rows import correction, cuda_rows

_OF_STATE = ("operation", "layer", "gpu_busy")
_NO_LAYER = _trace.LAYERS.index("none")

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Breakdowns:
    """Rows of both views as the sweep gives them, and the records that cost time in them."""

    process_id: int
    of_process: tuple[Columns, Columns]
    of_threads: tuple[Columns, Columns]
    by_stack: Callable[[Columns], dict[str, dict[str, Any]]]
    """The relations of stacks (rows/stacks.py) for a breakdown, as texts."""
    to_texts: Callable[[Columns], dict[str, Any]]
    """For columns with numbers of operations, phases and layers."""
    work_is_known: bool
    """Whether GPU work is."""

    def relations(self, costs: Calibration) -> dict[str, dict[str, Any]]:
        """The relations breakdown, breakdown_by_thread and overhead, and those of stacks."""
        of_process = _correct(*self.of_process, costs, "stage")
        of_threads = _correct(*self.of_threads, costs, "thread_id")
        overhead = correction.added_up(of_process.overhead, (*_OF_STATE, "kind"))
        found = {
            **self.by_stack(of_process.columns),
            "breakdown": self.to_texts(of_process.columns),
            "breakdown_by_thread": self.to_texts(of_threads.columns),
            "overhead": self.to_texts(overhead),
        }
        return found if self.work_is_known else cuda_rows.without_work(found)


def _correct(
    times: Columns, records: Columns, costs: Calibration, subject: str
) -> correction.Corrected:
    """A breakdown corrected; without costs its overhead is not known."""
    place = (subject, "phase", *_OF_STATE)
    found = correction.correct(times, records, costs, place=place, no_layer=_NO_LAYER)
    if not costs:
        for name in correction.COLUMNS:
            del found.columns[name]
    return found
