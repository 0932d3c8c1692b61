"""A comparison for programs: docs/guide/diff.md describes the keys."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from rlscope.compare import words
from rlscope.compare.comparison import Comparison
from rlscope.compare.differences import Relative
from rlscope.compare.gate import Gate
from rlscope.compare.measured import Measured
from rlscope.compare.rows import Row
from rlscope.compare.sources import Place

SCHEMA = 2
"""The version. It changes when a key changes its meaning or goes."""


def render(comparison: Comparison, gate: Gate | None) -> str:
    """The object as text."""
    return json.dumps(described(comparison, gate), indent=1, allow_nan=False) + "\n"


def described(comparison: Comparison, gate: Gate | None = None) -> dict[str, Any]:
    """One object. Times are in ns, changes are shares: 0.05 is 5 % more."""
    cpu, per_step = comparison.cpu, comparison.loop_per_step
    return {
        "schema": SCHEMA,
        "sentence": words.headline(comparison),
        "unit": comparison.unit,
        "base": _runs(comparison.base),
        "new": _runs(comparison.new),
        "environment": [
            {"kind": each.kind, "base": list(each.base), "new": list(each.new)}
            for each in comparison.environment
        ],
        "warnings": list(comparison.warnings),
        "loop": _row(comparison.loop),
        "mean_loop": _row(comparison.mean_loop),
        "loop_per_environment_step": None if per_step is None else _row(per_step),
        "cpu": None if cpu is None else _row(cpu),
        "operations": [*map(_row, comparison.operations)],
        "layers": [*map(_row, comparison.layers)],
        "transitions": [*map(_row, comparison.crossings)],
        "lines": [_row(row) | _place(row.place) for row in comparison.lines],
        "kernels": [*map(_row, comparison.kernels)],
        "findings": [
            {
                "rule": each.rule,
                "title": each.title,
                "base_title": each.base_title,
                "new_title": each.new_title,
                "base_share": each.base,
                "new_share": each.new,
                **_place(each.place),
            }
            for each in comparison.findings
        ],
        "gate": None if gate is None else _gate(gate),
    }


def _runs(side: Sequence[Measured]) -> list[dict[str, Any]]:
    return [
        {
            "directory": each.directory,
            "iterations": each.iterations,
            "steps_per_iteration": each.steps or None,
            "loop_ns": each.loop_ns,
        }
        for each in side
    ]


def _row(row: Row) -> dict[str, Any]:
    found = row.difference
    return {
        "name": row.name,
        "base": row.base,
        "new": row.new,
        "share": row.share,
        "contribution": row.contribution,
        "only_in": row.only or None,
        "change": None if found is None else found.change,
        "low": None if found is None else _finite(found.low),
        "high": None if found is None else _finite(found.high),
        "could_tell": None if found is None else _finite(found.could_tell),
        "drift": None if found is None or found.drift is None else _finite(found.drift),
        "corrected_change": row.corrected,
        "relative": None if row.relative is None else _relative(row.relative),
        "verdict": row.verdict.value,
    }


def _place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"file": None, "base_line": None, "new_line": None, "text": None, "changed": None}
    return {
        "file": place.file,
        "base_line": place.base_line,
        "new_line": place.new_line,
        "text": place.text,
        "changed": place.is_changed if place.is_by_text else None,
    }


def _relative(relative: Relative) -> dict[str, Any]:
    found = relative.difference
    return {
        "change": found.change,
        "low": _finite(found.low),
        "high": _finite(found.high),
        "could_tell": _finite(found.could_tell),
        "verdict": relative.verdict.value,
    }


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value


def _gate(gate: Gate) -> dict[str, Any]:
    return {
        "limit": gate.limit,
        "outcome": gate.outcome.value,
        "more_runs": gate.more_runs,
        "sentence": words.gate(gate),
        "checks": [
            {"name": each.row.name, "outcome": each.outcome.value, "more_runs": each.more_runs}
            for each in gate.checks
        ],
    }
