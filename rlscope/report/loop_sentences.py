"""The training loop in words: what takes most of it, who waits for whom, what lies around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rlscope.analysis import groups, process_verdicts, verdicts
from rlscope.analysis.groups import BETWEEN_OPERATIONS
from rlscope.analysis.operations import BETWEEN, OTHER_OPERATIONS, OUTSIDE, SHARED_STAGES, SHUTDOWN
from rlscope.analysis.process_verdicts import Lateness
from rlscope.analysis.verdicts import Uncovered
from rlscope.report import shares, units

Rows = Sequence[dict[str, Any]]

# Parts of start-up, warm-up and end that are named.
_PARTS = 3
# Operations that are found in the training loop and are no step of it.
_NO_STEPS = ("import", "compilation", "evaluation", "rendering", "saving", "loading", "closing")

_KINDS = {
    "other process": "another process",
    "poll": "a descriptor to be ready",
    "process": "a child process",
    "thread": "another thread",
    "gil": "the GIL",
    "disk": "the disk",
    "device": "a device",
    "descriptor": "a file",
    "sleep": "a timer (sleep or timeout)",
    "result": "results of Ray's workers",
    "task": "tasks of Ray",
}
_UNKNOWN_PAIRS = {
    "rolled up": "in records that were rolled up",
    "later": "later in the run, which was not looked at",
    "other": "beside operations of suspended tasks",
}
_IN_NO_OPERATION = {"start-up": "before the first step", "end": "after the last step"}
# Parts of the end that are named, and their names.
_END_NAMED = 6
_OTHER_CODE = "other code after the last step"
_END_PARTS = {
    SHUTDOWN: "shutdown of the interpreter, its last garbage collection and its libraries",
    None: _OTHER_CODE,
    "closing": "closing environments",
    "saving": "saving a checkpoint",
}
_EXIT_FUNCTIONS = {"multiprocessing.util._exit_function": "joining processes of multiprocessing"}
_PLURALS = {
    "environment worker": "environment workers",
    "data loader worker": "data loader workers",
    "evaluator": "evaluators",
    "helper": "helpers",
}


def title(group: str) -> str:
    """The subject of a sentence; an operation keeps its name."""
    if group == BETWEEN_OPERATIONS:
        return "Time between operations"
    return group.capitalize() if group in groups.GROUPS else units.label(group)


def annotation(facts: dict[str, Any]) -> str:
    """What makes an operation of a step of the program, or of a step in the imported files."""
    return str(facts.get("imported_marks") or "`with rls.operation(name):`")


def largest(times: Rows, facts: dict[str, Any], waited: Rows) -> str:
    """Rows of `group_time`: the largest group with its share, and what it mostly waits for."""
    group, group_ns, whole_ns = (times[0][key] for key in ("group", "group_ns", "whole_ns"))
    rows = [row for row in times if row["group"] == group]
    return (
        f"{title(group)} takes {units.share(group_ns, whole_ns)} of {shares.whole_name(facts)}: "
        f"{units.duration(group_ns)} of {units.duration(whole_ns)}."
        f"{_waits_inside(rows, waited)}{_waits_between(times, waited)}"
    )


def uncovered(
    times: Rows, facts: dict[str, Any], waited: Rows, found: Rows, libraries: Rows
) -> str:
    """The same where operations take little of the loop: how little, and why."""
    rows = [row for row in times if row["group"] == BETWEEN_OPERATIONS]
    waiting_ns = _waiting_ns(rows)
    steps = [row for row in found if row["operation"] not in _NO_STEPS and row["loop_ns"]]
    annotate = f"Put the other steps into {annotation(facts)}."
    reason = verdicts.why_uncovered(waiting_ns, found, facts)
    if reason is Uncovered.WAITING:
        why = f"Most of the time between them is waiting: {units.duration(waiting_ns)}"
        why += f"{_for_whom(rows, waited)}."
    elif reason is Uncovered.NOT_RECOGNISED:
        names = ", ".join(units.visible(row["operation"]) for row in steps)
        only = f"only {names} in the program" if names else "no step of its training"
        why = f"rlscope recognised {only}{_of_framework(rows, libraries)}. {annotate}"
    else:
        why = f"The program annotates nothing else. {annotate}"
    return (
        f"Operations take only {units.share(facts['inside_ns'], facts['span_ns'])} of "
        f"{shares.whole_name(facts)}: {units.duration(facts['inside_ns'])} of "
        f"{units.duration(facts['span_ns'])}.{_waits_between(times, waited)} {why}"
    )


def _of_framework(rows: Rows, libraries: Rows) -> str:
    """That the program calls a framework between operations for a notable time."""
    framework_ns = sum(row["duration_ns"] for row in rows if row["layer"] == "framework")
    if not libraries or not verdicts.is_framework_notable(framework_ns, rows[0]["group_ns"]):
        return ""
    library = units.visible(libraries[0]["library"])
    return f", and nothing in {units.duration(framework_ns)} more of its calls of {library}"


def _waits_between(times: Rows, waited: Rows) -> str:
    """How long the processes wait between operations, where that is much."""
    if not verdicts.is_waiting_notable(times):
        return ""
    waiting_ns = groups.waiting_between_ns(times)
    whom = _for_whom([{"operation": BETWEEN}], waited)
    return f" Between operations, the processes wait {units.duration(waiting_ns)}{whom}."


def waits_of_pauses(times: Rows, waited: Rows) -> str:
    """How long of the time between operations is waiting, where that is most of it and the first
    sentence does not say so."""
    rows = [row for row in times if row["group"] == BETWEEN_OPERATIONS]
    waiting_ns = _waiting_ns(rows)
    is_said = times[0]["group"] == BETWEEN_OPERATIONS
    if is_said or not rows or not verdicts.is_most(waiting_ns, rows[0]["group_ns"]):
        return ""
    return f" {units.duration(waiting_ns)} of this time is waiting{_for_whom(rows, waited)}."


def _waits_inside(rows: Rows, waited: Rows) -> str:
    """How long a group waits, where that is most of its time."""
    waiting_ns = _waiting_ns(rows)
    if not verdicts.is_most(waiting_ns, rows[0]["group_ns"]):
        return ""
    return f" It spends {units.duration(waiting_ns)} of that waiting{_for_whom(rows, waited)}."


def _waiting_ns(rows: Rows) -> int:
    return sum(row["duration_ns"] for row in rows if row["layer"] == "wait")


def _for_whom(rows: Rows, waited: Rows) -> str:
    """Rows of `waited_for`: the target of most waits in the training loop of the largest operation
    among the rows."""
    operation = rows[0]["operation"]
    operation = OUTSIDE if operation == BETWEEN else operation
    return _mostly(
        row for row in waited if row["stage"] in SHARED_STAGES and row["operation"] == operation
    )


def _mostly(targets: Iterable[dict[str, Any]]) -> str:
    """Rows of `waited_for` of one operation, or of one stage."""
    first = verdicts.main_target(targets)
    return f", mostly for {target(first)}" if first else ""


def target(row: Mapping[str, Any]) -> str:
    """A row of `waited_for`: "3 environment workers", "actor 0 and actor 1", "the GIL". With a row
    of `waited_beside`: "3 environment workers, by way of another thread"."""
    if row.get("beside"):
        return f"{target(row['beside'] | {'kind': None})}, by way of {_KINDS['thread']}"
    if row["kind"]:
        return _KINDS.get(row["kind"], units.visible(row["kind"]))
    name, last = units.visible(row["name"]), units.visible(row["last_name"])
    if row["peers"] == 1:
        return name
    if row["role"] in _PLURALS:
        return f"{row['peers']:,} {_PLURALS[row['role']]}"
    if row["peers"] == 2:
        return f"{name} and {last}"
    return f"{row['peers']:,} processes" + (f" ({name} to {last})" if row["family"] else "")


def pauses(rows: Rows) -> str:
    """Rows of `between_operation`: "simulation to backprop 660 ms in 198 pauses, ...", and last the
    time whose operations are not known."""
    named = [row for row in rows if verdicts.is_pair_named(row["duration_ns"], row["between_ns"])]
    known = [row for row in named if not row["why"]][:_PARTS]
    return ", ".join(
        [
            *(
                f"{pair(row)} {units.duration(row['duration_ns'])} in "
                f"{units.plural(row['pauses'], 'pause')}"
                for row in known
            ),
            *(f"{units.duration(row['duration_ns'])} {pair(row)}" for row in named if row["why"]),
        ]
    )


def largest_pause(rows: Rows) -> str:
    """Rows of `between_operation`: " 1.45 s of that lies between inference and the next inference."
    if that is most of the time between operations; else ""."""
    first = next((row for row in rows if not row["why"]), None)
    if first is None or not verdicts.is_most(first["duration_ns"], first["between_ns"]):
        return ""
    before, after = (units.label(first[key]) for key in ("before", "after"))
    following = f"the next {after}" if before == after else after
    return (
        f" {units.duration(first['duration_ns'])} of the time between operations lies between "
        f"{before} and {following}."
    )


def pair(row: Mapping[str, Any]) -> str:
    """A row of `between_operation`: the operations around the time, or why they are not known."""
    if row["why"]:
        return _UNKNOWN_PAIRS[row["why"]]
    if row["before"] == row["after"] == OTHER_OPERATIONS:
        return "others"
    return f"{units.label(row['before'])} to {units.label(row['after'])}"


def around(rows: Rows, waited: Rows, facts: dict[str, Any]) -> Iterable[str]:
    """Rows of `around_loop`: "Outside the training loop: start-up 12.3 s (import 9.10 s, ...).".
    Sums over several processes are called so: they may be longer than the run.

    Args:
        waited: rows of `waited_for`.
    """
    stages: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        stages.setdefault(row["stage"], []).append(row)
    if stages:
        parts = [_stage(stage, members, waited) for stage, members in stages.items()]
        processes = facts["looping_processes"]
        loops = f"loops of {processes:,} processes together" if processes > 1 else "loop"
        yield f"Outside the training {loops}: {', '.join(parts)}."


def _stage(stage: str, rows: Rows, waited: Rows) -> str:
    whole_ns = rows[0]["stage_ns"]
    named = [
        f"{_around_part(stage, row['operation'])} {units.duration(row['duration_ns'])}"
        for row in rows[:_PARTS]
        if verdicts.is_part_named(row["duration_ns"], whole_ns)
    ]
    waited_ns = rows[0]["stage_waited_ns"]
    whom = [row for row in waited if row["stage"] == stage and row["operation"] is None]
    said = []
    if verdicts.is_stage_waiting(waited_ns, whole_ns):
        said = [f"{units.duration(waited_ns)} of that waiting{_mostly(whom)}"]
    if any(row["operation"] for row in rows[:_PARTS]):
        said.append(", ".join(named))
    inside = f" ({'; '.join(said)})" if said else ""
    return f"{stage} {units.duration(whole_ns)}{inside}"


def _around_part(stage: str, operation: str | None) -> str:
    if operation == SHUTDOWN:
        return "shutdown of the interpreter and its libraries"
    return units.label(operation or _IN_NO_OPERATION[stage])


def ending(around_rows: Rows, parts: Rows, lines: Rows, facts: Mapping[str, Any]) -> Iterable[str]:
    """What ran after the loop, the longest first, where the end is long and has more parts than
    `around` names.

    Args:
        around_rows: rows of `around_loop`.
        parts: rows of `ending_part`.
        lines: rows of `ending_line`.
        facts: the row of `coverage`.
    """
    rows = [row for row in around_rows if row["stage"] == "end"]
    whole_ns = rows[0]["stage_ns"] if rows else 0
    parts = [row for row in parts if verdicts.is_part_named(row["duration_ns"], whole_ns)]
    others_ns = sum(row["duration_ns"] for row in rows if row["operation"] is None)
    lines = [row for row in lines[:1] if verdicts.is_most(row["own_ns"], others_ns)]
    has_more = bool(parts) or bool(rows[_PARTS:]) or bool(lines)
    if not has_more or not verdicts.is_end_notable(
        whole_ns, facts["outside_ns"] + facts["span_ns"]
    ):
        return
    named = {_end_part(row["operation"]): row["duration_ns"] for row in rows}
    known_ns = sum(row["duration_ns"] for row in parts)
    named[_OTHER_CODE] = named.get(_OTHER_CODE, 0) - known_ns
    for row in parts:
        named[_exit_part(row)] = row["duration_ns"]
    where = f" (mostly {_line(lines[0])})" if lines else ""
    said = [
        f"{name} {units.duration(ns)}{where if name == _OTHER_CODE else ''}"
        for name, ns in sorted(named.items(), key=lambda item: -item[1])[:_END_NAMED]
        if ns > 0 and verdicts.is_part_named(ns, whole_ns)
    ]
    yield f"The end took {units.duration(whole_ns)}: {', '.join(said)}."


def _line(row: Mapping[str, Any]) -> str:
    return units.line_of(row["file"], row["line"])


def _end_part(operation: str | None) -> str:
    return _END_PARTS.get(operation) or units.label(str(operation))


def _exit_part(row: Mapping[str, Any]) -> str:
    if row["what"] == "threads":
        return "joining threads"
    function = str(row["function"])
    return _EXIT_FUNCTIONS.get(function) or f"exit function {units.label(function)}"


def uncounted(rows: Rows, facts: dict[str, Any]) -> Iterable[str]:
    """Rows of `uncounted_role`: which processes are in no share."""
    if not facts["looping_processes"] or not rows:
        return
    known = {row["role"]: row["processes"] for row in rows if row["role"] in _PLURALS}
    parts = [f"{n:,} {_PLURALS[role] if n > 1 else role}" for role, n in known.items()]
    others = sum(row["processes"] for row in rows) - sum(known.values())
    if others:
        parts.append(
            f"{units.plural(others, 'process')} that {'do' if others > 1 else 'does'} not train"
        )
    yield f"Shares leave out {', '.join(parts)}; see Processes."


def workers(rows: Rows) -> Iterable[str]:
    """Rows of `worker_step` for the operation that takes the most time: what its workers did
    meanwhile, and whether one of them was late."""
    if not rows:
        return
    first = rows[0]
    of_operation = ("process_id", "operation")
    members = [row for row in rows if all(row[key] == first[key] for key in of_operation)]
    whole_ns, any_ns = first["operation_ns"], first["any_ns"]
    who = (
        f"at least one of its {len(members):,} environment workers steps"
        if len(members) > 1
        else f"{units.visible(first['worker'])} steps"
    )
    looked_at = _looked_at(first)
    pickling = "" if looked_at else _pickling(members)
    yield (
        f"{units.visible(first['process'])} spends {units.duration(whole_ns)} in "
        f"{looked_at or units.label(first['operation'])}. For {units.duration(any_ns)} of that "
        f"({units.share(any_ns, whole_ns)}), {who}. The rest is pickling{pickling}, pipes and "
        f"waking up.{_added_up(members)}"
    )
    if len(members) > 1:
        yield _straggler(members)


def _pickling(members: Rows) -> str:
    """How long the process served and its workers pickled; nothing where that is not recorded."""
    first = members[0]
    if first["pickled_ns"] is None:
        return ""
    most_ns = max(row["pickled_ns"] for row in members)
    worker = "each worker up to" if len(members) > 1 else "the worker"
    return (
        f" ({units.visible(first['process'])} {units.duration(first['server_pickled_ns'])}, "
        f"{worker} {units.duration(most_ns)})"
    )


def _looked_at(row: dict[str, Any]) -> str:
    """Which instances of the operation a sentence is about; "" for all of them."""
    name = units.label(row["operation"])
    if row["rolled_up"]:
        return f"{units.plural(row['instances'], 'instance')} of {name} whose records were kept"
    if row["operation_ns"] < row["whole_ns"]:
        return f"the first {units.plural(row['instances'], 'instance')} of {name}"
    return ""


def _added_up(members: Rows) -> str:
    """That the workers of an operation step for less time than it takes."""
    first = members[0]
    if len(members) < 2 or not process_verdicts.is_vector_slower(first):
        return ""
    stepped_ns = first["all_stepped_ns"]
    less_ns = first["operation_ns"] - stepped_ns
    return (
        f" Added up, the {len(members):,} workers step for {units.duration(stepped_ns)}: "
        f"{units.duration(less_ns)} less than {units.label(first['operation'])} takes."
    )


def _straggler(members: Rows) -> str:
    """The worker for which the others' results waited longest, and what it costs."""
    lateness, row = process_verdicts.lateness(members)
    worker, operation = units.visible(row["worker"]), units.label(row["operation"])
    usual_ns = row["own_steps"] * row["typical_ns"]
    others = "the other one" if len(members) == 2 else "each of the others, by their median,"
    stepped = (
        f"steps for {units.duration(row['stepped_ns'])}, {others} for {units.duration(usual_ns)}"
    )
    if lateness is Lateness.NOT_NOTABLE:
        return f"No worker is a straggler: the slowest one {stepped}."
    if lateness is Lateness.BEGINS_LATE:
        return (
            f"{worker} ends last in {units.share(row['last'], row['steps'])} of "
            f"{units.count(row['steps'])} steps, {units.duration(row['late_ns'])} after all others "
            "in all. That is mostly because it begins later, not because it takes longer."
        )
    return (
        f"{worker} is the straggler: it {stepped}. "
        f"If it were as fast, {operation} would take {_savings(row)}."
    )


def _savings(row: Mapping[str, Any]) -> str:
    """What a straggler costs: an interval, where others may use its core meanwhile."""
    least, most = units.duration(row["tail_ns"]), units.duration(row["until_ns"])
    if not process_verdicts.are_cores_shared(row) or least == most:
        return f"about {least} less"
    cores = units.plural(row["cores"], "core") if row["cores"] else "the cores"
    how = f"depending on how the {row['workers']:,} workers share {cores}"
    return f"about {least} to {most} less, {how}"


def critical(rows: Rows) -> Iterable[str]:
    """Rows of `critical_iteration` of the process that waits most: in how many of its iterations
    others are critical, and in how many it is itself."""
    yield from map(_critical, process_verdicts.waiting_iterations(rows)[:1])


def _critical(rows: Sequence[Mapping[str, Any]]) -> str:
    process, others, of = units.visible(rows[0]["process"]), target(rows[0]), len(rows)
    waiting = sum(verdicts.is_most(row["waited_ns"], row["duration_ns"]) for row in rows)
    if waiting in (0, of):
        does = f"waits for {others}" if waiting else "does its own work"
        return f"{process} {does} for most of each of its {units.plural(of, 'iteration')}."
    return (
        f"{process} waits for {others} for most of {waiting:,} of its {of:,} iterations, and does "
        f"its own work for most of the other {of - waiting:,}."
    )
