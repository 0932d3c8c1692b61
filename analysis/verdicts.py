"""What is worth a word, and which one: every threshold that decides what a report says.

    tables of analysis --> verdicts --> the report, which has the words

A verdict is a function of values. tests/unit/test_report_thresholds.py fails on a threshold in
rlscope/report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import Any

from rlscope import cuts
from rlscope.analysis.groups import (
    BETWEEN_OPERATIONS,
    GROUPS,
    WAITING_BETWEEN,
    waiting_between_ns,
)

Row = Mapping[str, Any]
Rows = Sequence[Row]

# Percent of a machine's cores that were busy, and that others than the run had.
_CROWDED = 90
_NOTABLE_OTHERS = 10
# Share of a process's waits that a target has.
_LISTED_WAIT = 0.01
# More than this share is most of a group, of the time between operations, or of waits.
_MOST = 0.5
# Shares of the training loops.
_NOTABLE_BETWEEN = 0.2
_NOTABLE_WAITING = 0.01
_NOTABLE_GAPS = 0.01
_NAMED_GROUP = 0.001
# Share of the time in operations that rlscope found by itself.
_NOTABLE_FOUND = 0.05
# Share of the time between operations that calls of frameworks take.
_NOTABLE_FRAMEWORK = 0.1
# Share of the time between operations that a pair of operations has between them.
_NAMED_PAIR = 0.01
# Shares of the time outside the loops: too much to judge them, and not too much.
_SHORT_LOOP = 0.99
_ENOUGH_OUTSIDE = 0.9
# Iterations of which a mean says something.
_ENOUGH_ITERATIONS = 20
_NAMED_OUTSIDE = 0.05
# Shares of start-up, of warm-up, and of the end: its waits, and one operation.
_NOTABLE_WAITING_AROUND = 0.1
_NAMED_AROUND = 0.01
# Share of threads' time without a CPU.
_NOTABLE_LACK = 0.1
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


def are_gaps_notable(gaps: Rows, facts: Row) -> bool:
    """Whether it is worth saying what time between operations lies between, from rows of
    `between_operation`."""
    known_ns = sum(row["duration_ns"] for row in gaps if row["why"] is None)
    return bool(known_ns > _NOTABLE_GAPS * facts["span_ns"])


def is_pair_named(part_ns: int, between_ns: int) -> bool:
    """Whether the time between two operations is worth their names."""
    return part_ns > _NAMED_PAIR * between_ns


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


class Brevity(Enum):
    """Whether a run is long enough to judge its training loop."""

    LONG_ENOUGH = auto()
    SHORT_LOOP = auto()
    """Nearly all of its time lies outside the loop."""
    FEW_ITERATIONS = auto()


def brevity(facts: Row, loop: Row) -> Brevity:
    """Decides it.

    Args:
        facts: the row of `coverage`.
        loop: the row of `loop_iteration`.
    """
    if not facts["looping_processes"]:
        return Brevity.LONG_ENOUGH
    if facts["outside_ns"] >= _SHORT_LOOP * (facts["outside_ns"] + facts["span_ns"]):
        return Brevity.SHORT_LOOP
    few = (loop["iterations"] or _ENOUGH_ITERATIONS) < _ENOUGH_ITERATIONS
    return Brevity.FEW_ITERATIONS if few else Brevity.LONG_ENOUGH


def enough(facts: Row, loop: Row) -> tuple[int | None, int]:
    """How many iterations a process has to complete, and how long that takes. None: it is not
    known how long one takes."""
    outside_ns = facts["outside_ns"] / facts["looping_processes"]
    loop_ns = math.ceil(outside_ns * (1 - _ENOUGH_OUTSIDE) / _ENOUGH_OUTSIDE)
    if not loop["iterations"]:
        return None, loop_ns
    mean_ns = max(loop["mean_ns"], 1)
    iterations = _ENOUGH_ITERATIONS
    if brevity(facts, loop) is Brevity.SHORT_LOOP:
        iterations = max(iterations, math.ceil(loop_ns / mean_ns))
    return iterations, iterations * mean_ns


def is_outside_named(part_ns: int, outside_ns: int) -> bool:
    """Whether start-up, or the end, is worth its name beside the loop."""
    return part_ns > _NAMED_OUTSIDE * outside_ns


class Failure(Enum):
    """What a program's failure means for its shares."""

    NONE = auto()
    NO_UPDATE = auto()
    """It failed before its first update."""
    SOME_TIME = auto()
    """Nothing that rlscope knows tells whether it did."""


def failure(exit_code: int | None, times: Rows, facts: Row) -> Failure:
    """Decides it.

    Args:
        exit_code: of the main process; None: not known.
        times: rows of `group_time`.
        facts: the row of `coverage`.
    """
    found = {row["group"] for row in times} - {BETWEEN_OPERATIONS, WAITING_BETWEEN}
    if not exit_code or "learning" in found:
        return Failure.NONE
    known = facts["looping_processes"] and found <= set(GROUPS)
    return Failure.NO_UPDATE if known else Failure.SOME_TIME


# ---- around it ----------------------------------------------------------------------------------


def is_stage_waiting(waited_ns: int, stage_ns: int) -> bool:
    """Whether the waits of start-up, or of the end, are worth a word."""
    return waited_ns > _NOTABLE_WAITING_AROUND * stage_ns


def is_part_named(part_ns: int, stage_ns: int) -> bool:
    """Whether an operation of it is worth its name."""
    return part_ns > _NAMED_AROUND * stage_ns


def is_cpu_lacking(runnable_ns: int, measured_ns: int) -> bool:
    """Whether threads that could run lacked a CPU for a notable time."""
    return runnable_ns > _NOTABLE_LACK * measured_ns


def is_extrapolated(progress: Row) -> bool:
    """Whether a row of `extrapolation` says something of the future: its work is not all done."""
    return progress["share"] is None or bool(progress["share"] < 1)


def is_machine_crowded(machine: Row) -> bool:
    """Whether others kept a machine busy, from a row of `machine_share`: the run's times are then
    longer than on an idle one."""
    if machine["run_percent"] is None or machine["polled_percent"] < _CROWDED:
        return False
    return bool(machine["polled_percent"] - machine["run_percent"] > _NOTABLE_OTHERS)


# ---- waits --------------------------------------------------------------------------------------


def is_wait_listed(self_ns: int, process_ns: int) -> bool:
    """Whether a target is worth a row of the waits of its process."""
    return self_ns >= _LISTED_WAIT * process_ns


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
