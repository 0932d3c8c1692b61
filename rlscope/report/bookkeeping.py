"""What recording took of the program's CPU time: events of each kind by the cost of that kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlscope.report import units

_KINDS = (
    ("operation", "operation_events", "operation_cost_ns"),
    ("automatic event", "automatic_events", "automatic_cost_ns"),
    ("native call", "native_events", "native_cost_ns"),
    ("CUDA call", "cuda_events", ""),  # CUPTI's own part is the larger one, and no loop shows it
)
COUNTS = tuple(count for _, count, _ in _KINDS)
"""Facts that are read here: how many events a run has of each kind."""


def cost_ns(facts: Mapping[str, Any]) -> float:
    """CPU time that recording took, of the kinds whose cost a loop tells."""
    return sum(count * cost for _, count, cost in _recorded(facts) if cost is not None)


def events(facts: Mapping[str, Any]) -> str:
    """The events by kind: "120 operations of 11 ns, 637,957 native calls of 6 ns, 30 CUDA calls not
    counted"."""
    return ", ".join(
        f"{units.plural(count, noun)} "
        f"{'not counted' if cost is None else f'of {units.duration(cost)}'}"
        for noun, count, cost in _recorded(facts)
    )


def counts(facts: Mapping[str, Any]) -> str:
    """The events by kind: "120 operations, 637,957 native calls"."""
    return ", ".join(units.plural(count, noun) for noun, count, _ in _recorded(facts))


def _recorded(facts: Mapping[str, Any]) -> list[tuple[str, int, float | None]]:
    """(kind, count, cost or None) of each kind that the run has."""
    return [
        (noun, facts[count], facts.get(cost)) for noun, count, cost in _KINDS if facts.get(count)
    ]
