"""What recording cost, as the run itself says, and what its correction takes out of the times."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from rlscope.analysis import statement
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

OsPids = Collection[int] | None
"""Processes by their ids of the system; None: all of the run."""


def said_overhead(trace: Trace, os_pids: OsPids) -> Table:
    """One row: ns (None: nothing), unknown (kinds of records without a cost; None: there are none),
    calls and submissions of CUDA."""
    return statement.run(trace, "said_overhead", os_pids=_bound(os_pids))


def record_costs(trace: Trace) -> Table:
    """kind, mean_ns, inside: one record of each kind but those of CUDA."""
    return statement.run(trace, "record_cost")


def removed(trace: Trace, os_pids: OsPids) -> Table:
    """One row: mean, low, high (nanoseconds; None: no record has a cost), method."""
    return statement.run(trace, "removed", os_pids=_bound(os_pids))


def removed_by_operation(trace: Trace, os_pids: OsPids) -> Table:
    """operation, mean, low, high: of one entry, of those that the program annotates."""
    return statement.run(trace, "removed_by_operation", os_pids=_bound(os_pids))


def _bound(os_pids: OsPids) -> list[int] | None:
    return None if os_pids is None else sorted(os_pids)
