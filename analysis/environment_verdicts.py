"""Verdicts on the environments of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlscope.relations.groups import EVALUATION, LEARNING, SIMULATION

_INFERENCE, _GENERATION = "inference", "generation"


def is_environment_missed(times: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> bool:
    """Whether a program acts and learns, by what rlscope found itself, and nothing steps an
    environment or writes a text. From rows of `group_time`, and the row of `coverage`."""
    groups = {row["group"] for row in times}
    is_automatic = facts["automatic_events"] and not facts["operation_events"]
    acts = {_INFERENCE, LEARNING} <= groups
    return bool(is_automatic and acts and groups.isdisjoint((SIMULATION, EVALUATION, _GENERATION)))
