"""What is worth a word, and which one: every threshold that decides what a report says.

    tables of analysis --> verdicts --> the report, which has the words

A verdict is a function of values. tests/unit/test_report_thresholds.py fails on a threshold in
rlscope/report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import Any

from rlscope import cuts
from rlscope.analysis.groups import waiting_between_ns

Row = Mapping[str, Any]
Rows = Sequence[Row]

# More than this share is most of a group, of the time between operations, or of waits.
_MOST = 0.5
# Shares of the training loops.
_NOTABLE_BETWEEN = 0.2
_NOTABLE_WAITING = 0.01
_NAMED_GROUP = 0.001
# Share of the time in operations that rlscope found by itself.
_NOTABLE_FOUND = 0.05
# Share of the time between operations that calls of frameworks take.
_NOTABLE_FRAMEWORK = 0.1
# Shares of start-up, of warm-up, and of the end: its waits, and one operation.
_NOTABLE_WAITING_AROUND = 0.1
_NAMED_AROUND = 0.01
# Share of the steps' time that the slowest worker costs.
_NOTABLE_LATE = 0.05
# CPU time of a program that is enough to say which share of it recording took.
_SHORTEST_PROGRAM_NS = 100_000_000

HARMLESS = frozenset(
    {
        "rolled_up",
        "exit_out_of_order",
        "exit_without_enter",
        "fork_without_record",
        "iteration_of_other_thread",
    }
)
"""Kinds of loss that say something about the program's annotations, or about what was asked for,
and not about missing data."""


def is_most(part_ns: float, whole_ns: float) -> bool:
    """Whether a part is most of a whole."""
    return part_ns > _MOST * whole_ns


# ---- the training loop --------------------------------------------------------------------------


class Subject(Enum):
    """What the first sentence is about."""

    NOTHING = auto()
    NO_LOOP = auto()
    """No process has operations."""
    UNCOVERED = auto()
    """How little operations take of the loop."""
    LARGEST = auto()
    """The largest group of operations."""


def subject(times: Rows, facts: Row) -> Subject:
    """Decides it.

    Args:
        times: rows of `group_time`.
        facts: the row of `coverage`.
    """
    if not times:
        return Subject.NOTHING
    if not facts["looping_processes"]:
        return Subject.NO_LOOP
    waiting_ns = waiting_between_ns(times)
    uncovered = is_most(facts["between_ns"] - waiting_ns, facts["span_ns"] - waiting_ns)
    return Subject.UNCOVERED if uncovered else Subject.LARGEST


class Uncovered(Enum):
    """Why operations take little of the loop."""

    WAITING = auto()
    """Most of the time between them is."""
    NOT_RECOGNISED = auto()
    """rlscope had to find them by itself, and found no more."""
    NOT_ANNOTATED = auto()


def why_uncovered(waiting_ns: int, found: Rows, facts: Row) -> Uncovered:
    """Decides it.

    Args:
        waiting_ns: waits between operations.
        found: rows of `automatic_operation`.
        facts: the row of `coverage`.
    """
    if is_most(waiting_ns, facts["between_ns"]):
        return Uncovered.WAITING
    if is_most(sum(row["loop_ns"] for row in found), facts["inside_ns"]):
        return Uncovered.NOT_RECOGNISED
    return Uncovered.NOT_ANNOTATED


def is_between_notable(times: Rows, facts: Row) -> bool:
    """Whether much of the loop lies between operations, and is no wait."""
    between_ns = facts["between_ns"] - waiting_between_ns(times)
    return bool(between_ns > _NOTABLE_BETWEEN * facts["span_ns"])


def is_waiting_notable(times: Rows) -> bool:
    """Whether processes wait between operations for a notable part of the loops."""
    return bool(waiting_between_ns(times) > _NOTABLE_WAITING * times[0]["whole_ns"])


def is_framework_notable(framework_ns: int, between_ns: int) -> bool:
    """Whether the calls of frameworks between operations are worth a word."""
    return framework_ns > _NOTABLE_FRAMEWORK * between_ns


def is_found_notable(found: Rows, facts: Row) -> bool:
    """Whether the operations of `found`, rows of `automatic_operation`, are worth a word: those of
    the program do not take nearly all."""
    return bool(sum(row["loop_ns"] for row in found) > _NOTABLE_FOUND * facts["inside_ns"])


def is_group_named(group_ns: int, whole_ns: int) -> bool:
    """Whether a group or operation after the first is worth its name."""
    return group_ns > _NAMED_GROUP * whole_ns


def main_target(targets: Iterable[Row]) -> Row | None:
    """What an operation mostly waits for, from its rows of `waited_for`; None: for no one thing."""
    return next((row for row in targets if is_most(row["loop_share"] or 0, 1)), None)


# ---- around it ----------------------------------------------------------------------------------


def is_stage_waiting(waited_ns: int, stage_ns: int) -> bool:
    """Whether the waits of start-up, or of the end, are worth a word."""
    return waited_ns > _NOTABLE_WAITING_AROUND * stage_ns


def is_part_named(part_ns: int, stage_ns: int) -> bool:
    """Whether an operation of it is worth its name."""
    return part_ns > _NAMED_AROUND * stage_ns


# ---- workers ------------------------------------------------------------------------------------


class Lateness(Enum):
    """What the slowest environment worker of an operation is."""

    NOT_NOTABLE = auto()
    STRAGGLER = auto()
    """Its own steps take longer."""
    BEGINS_LATE = auto()


def lateness(worker: Row) -> Lateness:
    """Decides it, from the first row of `worker_step` of an operation."""
    if worker["late_ns"] <= _NOTABLE_LATE * worker["operation_ns"]:
        return Lateness.NOT_NOTABLE
    slow = is_most(worker["slow_ns"], worker["late_ns"])
    return Lateness.STRAGGLER if slow else Lateness.BEGINS_LATE


# ---- recording ----------------------------------------------------------------------------------


def is_comparable(program_cpu_ns: int) -> bool:
    """Whether a program ran for long enough to say which share of its CPU time recording took."""
    return program_cpu_ns >= _SHORTEST_PROGRAM_NS


def is_data_missing(kind: str) -> bool:
    """Whether a loss of this kind means that the trace lacks data. A cut has a sentence of
    its own."""
    return kind not in HARMLESS and kind not in cuts.KINDS
