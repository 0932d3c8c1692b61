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
# More than this share is most of a group, of the time between operations, or of waits.
_MOST = 0.5
# Shares of the training loops.
_NOTABLE_BETWEEN = 0.2
_TOLD_BETWEEN = 0.1
_NOTABLE_WAITING = 0.01
_NOTABLE_PAUSES = 0.01
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
# An iteration that is so many times as long as nearly all others flattens their chart.
_SPIKE = 4
_NAMED_OUTSIDE = 0.05
# Shares of start-up, of warm-up, and of the end: its waits, and one operation.
_NOTABLE_WAITING_AROUND = 0.1
_NAMED_AROUND = 0.01
# Share of threads' time without a CPU.
_NOTABLE_LACK = 0.1
# The end, to say what ran in it: its share of the processes' recorded time, or how long.
_NOTABLE_END = 0.05
_LONG_END_NS = 2_000_000_000
# Share of processes' lives in which libraries compiled.
_NOTABLE_COMPILATION = 0.1
# Share of the loops that one compiled function takes.
_OPAQUE_CALL = 0.9
# Share of the loops in which an operation was blocked in native code.
_NOTABLE_BLOCKED = 0.1
# Share of the run's time, or of its CPU time, that was not recorded.
_NOTABLE_UNRECORDED = 0.1
# Share of the run that imports of a process take.
_NOTABLE_IMPORTS = 0.1
# Share of the loops of a line that is worth a look.
_COSTLY_LINE = 0.05
# CPU time of a program that is enough to say which share of it recording took.
_SHORTEST_PROGRAM_NS = 100_000_000
# Share of the iterations of which windows of GPU work tell nothing.
_NOTABLE_UNKNOWN = 0.005
# Share of their time in iterations that are much longer than those of windows of GPU work.
_NOTABLE_UNLIKE = 0.05

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


def is_about_between(times: Rows, facts: Row) -> bool:
    """Whether the first sentence is about time between operations, as `subject`, and most of that
    is no wait: what the program waits for stands there, too."""
    about = subject(times, facts)
    is_largest = about is Subject.LARGEST and times[0]["group"] == BETWEEN_OPERATIONS
    rows = [row for row in times if row["group"] == BETWEEN_OPERATIONS]
    waiting_ns = sum(row["duration_ns"] for row in rows if row["layer"] == "wait")
    is_wait = is_most(waiting_ns, sum(row["duration_ns"] for row in rows))
    return (about is Subject.UNCOVERED or is_largest) and not is_wait


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


def is_between_told(pauses: Rows, facts: Row) -> bool:
    """Whether so much time lies between operations, by rows of `between_operation`, that one
    screen says where."""
    return _pauses_ns(pauses) > _TOLD_BETWEEN * int(facts["span_ns"])


def is_running(processes: Iterable[Row]) -> bool:
    """Whether one of them has not ended."""
    return any(row["ended"] == "running" for row in processes)


def are_pauses_notable(pauses: Rows, facts: Row) -> bool:
    """Whether it is worth saying what time between operations lies between, from rows of
    `between_operation`."""
    return _pauses_ns(pauses) > _NOTABLE_PAUSES * int(facts["span_ns"])


def _pauses_ns(pauses: Rows) -> int:
    """Time between known operations."""
    return sum(row["duration_ns"] for row in pauses if row["why"] is None)


def is_pair_named(part_ns: int, between_ns: int) -> bool:
    """Whether the time between two operations is worth their names."""
    return part_ns > _NAMED_PAIR * between_ns


def is_wait_explained(beside_ns: int, waited_ns: int) -> bool:
    """Whether a thread waits for processes during most of the time in which another one waits for a
    thread."""
    return is_most(beside_ns, waited_ns)


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
    return next((row for row in targets if is_most(row["share"] or 0, 1)), None)


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
    mean_ns = iteration_ns(facts, loop)
    iterations = _ENOUGH_ITERATIONS
    if brevity(facts, loop) is Brevity.SHORT_LOOP:
        iterations = max(iterations, math.ceil(loop_ns / mean_ns))
    return iterations, iterations * mean_ns


def iteration_ns(facts: Row, loop: Row) -> int:
    """How long a loop takes for an iteration, with what lies between iterations if that is most of
    it: games that a program plays before it learns from them.

    Args:
        facts: the row of `coverage`.
        loop: the row of `loop_iteration`, with iterations.
    """
    iterations_ns = loop["iterations"] * loop["mean_ns"]
    loop_ns = facts["span_ns"] / facts["looping_processes"]
    if is_most(loop_ns - iterations_ns, loop_ns):
        each_ns: float = loop_ns / loop["iterations"]
        return math.ceil(each_ns)
    return max(int(loop["mean_ns"]), 1)


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
    NO_LOOP = auto()
    """So it is, and rlscope knows no training loop."""
    AFTER_UPDATES = auto()


def failure(ending: Row, times: Rows, facts: Row) -> Failure:
    """Decides it. Somebody who interrupts a program has seen enough.

    Args:
        ending: the row of `ending`.
        times: rows of `group_time`.
        facts: the row of `coverage`.
    """
    found = {row["group"] for row in times} - {BETWEEN_OPERATIONS, WAITING_BETWEEN}
    if not ending["exit"]:
        return Failure.NONE
    if "learning" in found:
        return Failure.NONE if is_interrupted(ending) else Failure.AFTER_UPDATES
    if not facts["looping_processes"]:
        return Failure.NO_LOOP
    known = found <= set(GROUPS) and ending["framework"]
    return Failure.NO_UPDATE if known else Failure.SOME_TIME


def is_interrupted(ending: Row) -> bool:
    """Whether somebody interrupted the program, from its row of `ending`: as by Ctrl-C."""
    return bool(ending["exception"] == "KeyboardInterrupt")


def are_iterations_enough(iterations: int) -> bool:
    """Whether a loop ran for long enough to say that nothing in it is worth mending."""
    return iterations >= _ENOUGH_ITERATIONS


def are_others_flat(longest_ns: int, usual_ns: int) -> bool:
    """Whether a chart up to the longest iteration shows nothing of the usual ones (p95)."""
    return longest_ns > _SPIKE * usual_ns > 0


# ---- around it ----------------------------------------------------------------------------------


def is_stage_waiting(waited_ns: int, stage_ns: int) -> bool:
    """Whether the waits of start-up, or of the end, are worth a word."""
    return waited_ns > _NOTABLE_WAITING_AROUND * stage_ns


def is_end_notable(end_ns: int, whole_ns: int) -> bool:
    """Whether it is worth saying what ran after the loops."""
    return end_ns >= _LONG_END_NS or (end_ns > 0 and end_ns >= _NOTABLE_END * whole_ns)


def is_part_named(part_ns: int, stage_ns: int) -> bool:
    """Whether an operation of it is worth its name."""
    return part_ns > _NAMED_AROUND * stage_ns


def is_module_named(module_ns: int, imports_ns: int) -> bool:
    """Whether a module is a notable part of the imports of a role."""
    return module_ns >= _NAMED_AROUND * imports_ns


def is_cpu_lacking(runnable_ns: int, measured_ns: int) -> bool:
    """Whether threads that could run lacked a CPU for a notable time."""
    return runnable_ns > _NOTABLE_LACK * measured_ns


def is_blocking_notable(blocked_ns: int, loop_ns: int) -> bool:
    """Whether the time in which an operation was blocked in native code is worth a word."""
    return blocked_ns >= _NOTABLE_BLOCKED * loop_ns


def is_compilation_notable(compiling_ns: int, whole_ns: int) -> bool:
    """Whether what libraries compiled is worth a word."""
    return compiling_ns >= _NOTABLE_COMPILATION * whole_ns


def is_loop_opaque(call_ns: int, loop_ns: int) -> bool:
    """Whether one compiled function takes nearly all of the training loops."""
    return call_ns >= _OPAQUE_CALL * loop_ns


def are_imports_notable(total: Row) -> bool:
    """Whether the imports of the processes of a role are worth a word, from its row of
    `import_total`."""
    return bool(0 < _NOTABLE_IMPORTS * (total["run_ns"] or 0) <= total["wall_ns"])


def is_extrapolated(progress: Row) -> bool:
    """Whether a row of `extrapolation` says something of the future: its work is not all done."""
    return progress["share"] is None or bool(progress["share"] < 1)


def is_machine_crowded(machine: Row) -> bool:
    """Whether others kept a machine busy, from a row of `machine_share`: the run's times are then
    longer than on an idle one."""
    if machine["run_percent"] is None or machine["polled_percent"] < _CROWDED:
        return False
    return bool(machine["polled_percent"] - machine["run_percent"] > _NOTABLE_OTHERS)


# ---- recording ----------------------------------------------------------------------------------


def is_comparable(program_cpu_ns: int) -> bool:
    """Whether a program ran for long enough to say which share of its CPU time recording took."""
    return program_cpu_ns >= _SHORTEST_PROGRAM_NS


def is_cuda_cost_unknown(facts: Row) -> bool:
    """Whether rlscope recorded CUDA calls, and nothing says what that cost, from the row of
    `coverage`."""
    return "CUDA" in (facts["unknown_costs"] or "")


def is_unknown_notable(unknown: int, iterations: int) -> bool:
    """Whether it is worth saying that windows of GPU work tell nothing of some iterations."""
    return unknown > _NOTABLE_UNKNOWN * iterations


def is_unlike_notable(unlike_ns: int, duration_ns: int) -> bool:
    """Whether it is worth saying that some iterations are unlike those of windows of GPU work."""
    return unlike_ns > _NOTABLE_UNLIKE * duration_ns


def is_data_missing(kind: str) -> bool:
    """Whether a loss of this kind means that the trace lacks data. A cut has a sentence of
    its own."""
    return kind not in HARMLESS and kind not in cuts.KINDS


class Unrecorded(Enum):
    """What programs that nothing recorded mean for the report."""

    NOT_NOTABLE = auto()
    BESIDE = auto()
    """They ran beside a training loop that was recorded, and it did not wait for them."""
    FIRST = auto()
    """No training loop was recorded, or it waited for them."""


def unrecorded(program: Row, facts: Row) -> Unrecorded:
    """Decides it.

    Args:
        program: a row of `unrecorded_program`.
        facts: the row of `coverage`.
    """
    time = program["kind_ns"] >= _NOTABLE_UNRECORDED * program["run_ns"]
    cpu = program["kind_cpu_ns"] >= _NOTABLE_UNRECORDED * program["all_cpu_ns"]
    if not program["kind_ns"] or not (time or cpu):
        return Unrecorded.NOT_NOTABLE
    waits = program["waited_ns"] >= _NOTABLE_UNRECORDED * program["run_ns"]
    return Unrecorded.BESIDE if facts["looping_processes"] and not waits else Unrecorded.FIRST


def is_line_costly(own_ns: float, loop_ns: float) -> bool:
    """Whether one line takes enough of the loop to be looked at."""
    return own_ns >= _COSTLY_LINE * loop_ns
