"""Verdicts on the environments of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlscope.relations.groups import EVALUATION, INFERENCE, LEARNING, SIMULATION

_GENERATION = "generation"
# Calls of a framework in an environment's step that are many, and how long one of a tensor of a few
# numbers takes at most.
_CALLS_OF_STEP = 20
_LEAST_CALL_NS = 6_000


def is_environment_missed(times: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> bool:
    """Whether a program acts and learns, by what rlscope found itself, and nothing steps an
    environment or writes a text. From rows of `group_time`, and the row of `coverage`."""
    groups = {row["group"] for row in times}
    is_automatic = facts["automatic_events"] and not facts["operation_events"]
    acts = {INFERENCE, LEARNING} <= groups
    return bool(is_automatic and acts and groups.isdisjoint((SIMULATION, EVALUATION, _GENERATION)))


def are_tensors_small(row: Mapping[str, Any]) -> bool:
    """Whether an environment's step makes many calls of a framework that take as long as any call
    does. From a row of `findings/tensor_steps`."""
    many = row["calls"] >= _CALLS_OF_STEP * row["entries"]
    return bool(many and row["calls_ns"] <= _LEAST_CALL_NS * row["calls"])
