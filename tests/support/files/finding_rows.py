"""A run of 20 s whose loop takes 10 s, and rules that find what a test says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from rlscope import registry
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from support.files.relation_rows import SECOND, Relations, process, share

LOOP_NS = 10 * SECOND


def trace(*, iterations: int = 0, **rows: Any) -> Relations:
    """One process trains in operation `update`, in so many iterations."""
    each_ns = LOOP_NS // max(iterations, 1)
    shown: dict[str, Any] = {
        "run": [{"start_ns": 0, "end_ns": 20 * SECOND}],
        "process": [process(0, 0, 20 * SECOND)],
        "breakdown": [share(0, "update", "python", LOOP_NS)],
        "iteration": [
            {
                "process_id": 0,
                "iteration": place,
                "start_ns": place * each_ns,
                "duration_ns": each_ns,
                "complete": True,
                "source": "explicit",
            }
            for place in range(iterations)
        ],
    }
    return Relations(**{**shown, **rows})


def seconds(saving: float, low: float, high: float) -> Price:
    return Price(saving * SECOND, low * SECOND, high * SECOND)


def finding(price: Price | None = None, **more: Any) -> Finding:
    texts = {"title": "it is slow", "evidence": "It takes 1 s.", "fix": "Mend it."}
    rest = {"evidence_sql": "FROM run", "no_effect": "No effect where it is not.", "price": price}
    return Finding(**{**texts, **rest, **more})


def install(monkeypatch: pytest.MonkeyPatch, **made: Iterable[Finding]) -> None:
    """Puts rules in the place of the known ones: each finds what is said."""
    names, load = registry.names, registry.load

    def names_of(group: str) -> list[str]:
        return [*made] if group == registry.FINDINGS else names(group)

    def load_one(group: str, name: str) -> Any:
        if group == registry.FINDINGS:
            return Rule(lambda *_: iter(made[name]))
        return load(group, name)

    monkeypatch.setattr(registry, "names", names_of)
    monkeypatch.setattr(registry, "load", load_one)
