"""The relation training_loop: the rows of `breakdown` that shares of the report are of.

docs/reference/semantics.md ("Shares in the report") has the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlscope.relations.rows.known_roles import (
    DATA_LOADER_WORKER,
    ENVIRONMENT_WORKER,
    EVALUATOR,
    HELPER,
)
from rlscope.relations.rows.operations import NONE, NOT_RECORDED

LOOP = "loop"
WHOLE = "whole"
BETWEEN = "(between operations)"
"""Time of a loop in no operation."""
_LEFT_OUT = frozenset({ENVIRONMENT_WORKER, DATA_LOADER_WORKER, EVALUATOR, HELPER})
# A loop that is shorter than one part of so many of the longest one only tries an operation.
_LEAST_PART = 100


def counted(roles: Mapping[int, str | None], loops: Mapping[int, int]) -> set[int]:
    """The processes that shares are of.

    Args:
        roles: role of each process; None: unknown.
        loops: length of the training loop of each process that has one, in nanoseconds.
    """
    if not loops:
        return set(roles)
    own = {process for process in loops if roles[process] not in _LEFT_OUT} or set(loops)
    longest = max(loops[process] for process in own)
    return {process for process in own if loops[process] * _LEAST_PART >= longest}


def length(breakdown: Mapping[str, Sequence[Any]]) -> int | None:
    """Nanoseconds of the training loop in rows of `breakdown` of one process; None: it has none."""
    stages = breakdown["stage"]
    if LOOP not in stages:
        return None
    durations = zip(stages, breakdown["duration_ns"], strict=True)
    return sum(int(duration) for stage, duration in durations if stage == LOOP)


def rows(breakdown: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The rows of the loop, among those of `breakdown` of a process that counts."""
    stages, operations = breakdown["stage"], breakdown["operation"]
    wanted = [
        place
        for place, (stage, operation) in enumerate(zip(stages, operations, strict=True))
        if stage in (LOOP, WHOLE) and operation != NOT_RECORDED
    ]
    found = {name: _taken(values, wanted) for name, values in breakdown.items()}
    found["operation"] = [
        BETWEEN if (stage, operation) == (LOOP, NONE) else operation
        for stage, operation in zip(found["stage"], found["operation"], strict=True)
    ]
    return found


def _taken(values: Any, wanted: list[int]) -> list[Any]:
    if isinstance(values, np.ndarray):
        return list(values[wanted].tolist())
    return [values[place] for place in wanted]
