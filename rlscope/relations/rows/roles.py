"""Name and role of each process of a run: docs/reference/semantics.md ("Roles") has the rules.

What is known of a process: its place in the tree, its command line, and what it noted of itself
(rlscope/capture/roles.py).
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlscope.relations.groups import EVALUATION, LEARNING, SIMULATION
from rlscope.relations.rows import known_roles as known
from rlscope.relations.rows.imported_places import NOTE as IMPORTED_NOTE
from rlscope.relations.rows.known_roles import HELPER, MAIN, PROGRAM, WORKER

NOTE = "rlscope.role"
RANK_NOTE = "rlscope.rank"
"""Keys of the metadata in which a process says what it is: rlscope/capture/roles.py."""

_ACTS = frozenset({SIMULATION, "inference"})
_EVALUATES = _ACTS | {EVALUATION, "loading", "saving", "closing"}
"""Groups that an evaluator has, and that it may have."""

_LONGEST_NAME = 120
_LONGEST_CODE = 37  # of a program that is given by -c
_MOST = 1 << 31
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")
# Options of an interpreter may stand together: "-um".
_MODULE, _CODE = (re.compile(rf"-[bBdEhiIOPqRsSuvVx]*{last}") for last in "mc")
_OWN_NUMBER = r"-\d+(?::\d+)*"
# What multiprocessing calls a process: its class, or that of its pool's workers, and a number.
_DEFAULT_NAME = re.compile(rf"(?:Fork|Spawn|ForkServer)?(?:Process|PoolWorker){_OWN_NUMBER}")


@dataclass
class _Process:
    """A process with the role that it has so far."""

    role: str
    name: str
    number: int | None = None
    """The number that it was given when it was started."""
    order: int = 0
    """Its place among the children that multiprocessing made for one parent."""
    always_numbered: bool = False
    serves: bool = False
    """It is a helper, and what it starts are helpers."""


def roles(
    processes: Sequence[Mapping[str, Any]],
    groups: Mapping[int, Collection[str]],
    giving: Collection[int] = (),
    command: str = "",
) -> tuple[list[str], list[str]]:
    """Names and roles of the processes, parents before their children.

    Args:
        processes: as _trace.Directory.processes has them.
        groups: index of a process -> groups of the operations in its training loop.
        giving: indexes of the processes that another one may get experience from.
        command: what the run was started with; a process that recorded nothing has no command line.
    """
    found: list[_Process] = []
    last = {_identity(process): index for index, process in enumerate(processes)}
    for process in processes:
        index = process["parent_index"]
        parent = found[index] if index is not None else None
        program = process["program"] or (command if parent is None else "")
        found.append(_of({**process, "program": program}, processes, parent))
        if process["forked"] and last[_identity(process)] >= len(found):
            found[-1].role = HELPER
    learns = any(LEARNING in of_process for of_process in groups.values())
    for index, of_process in groups.items():
        if found[index].role != WORKER:
            continue
        if set(of_process) == {SIMULATION}:
            found[index].role = known.ENVIRONMENT_WORKER
        elif learns and index not in giving and _ACTS <= set(of_process) <= _EVALUATES:
            found[index].role = known.EVALUATOR
    if found:
        _find_main(processes, found)
    return _names(processes, found), [each.role for each in found]


def _of(
    process: Mapping[str, Any],
    processes: Sequence[Mapping[str, Any]],
    parent: _Process | None,
) -> _Process:
    note = _read_note(process, NOTE)
    if parent is not None and parent.serves:
        return _Process(HELPER, parent.name, serves=True)
    if IMPORTED_NOTE in process["metadata"]:
        return _imported(process)
    if not process["python"]:
        return _Process(HELPER, process["comm"])
    if "helper" in note:
        return _Process(HELPER, str(note["helper"]))
    if "class" in note:
        return _child_of_multiprocessing(note)
    if process["forked"] and parent is not None:
        return _Process(WORKER, "fork", always_numbered=True)
    rank = _read_note(process, RANK_NOTE).get("rank")
    if isinstance(rank, int) and not _is_below_a_rank(process, processes):
        return _Process(known.RANK, "rank", rank, always_numbered=True)
    if _is_ray_worker(process["program"], parent):
        return _ray_worker(process["program"], note)
    return _program(process["program"] or _known_of(process), process["comm"])


def _known_of(process: Mapping[str, Any]) -> str:
    """What is known of the command line of an interpreter that recorded nothing."""
    return f"python {process['arguments']}" if process.get("arguments") else ""


def _imported(process: Mapping[str, Any]) -> _Process:
    """A process of another tool's trace: whatever it profiled is a program of the algorithm."""
    rank = _read_note(process, RANK_NOTE).get("rank")
    if isinstance(rank, int):
        return _Process(known.RANK, "rank", rank, always_numbered=True)
    return _Process(PROGRAM, process["comm"])


def _child_of_multiprocessing(note: Mapping[str, Any]) -> _Process:
    target, number, order = note.get("target"), note.get("index"), note.get("number", 0)
    kind = known.TARGETS.get(str(target))
    if kind is not None and kind.role == HELPER:
        return _Process(HELPER, kind.name, serves=True)
    if kind is not None:
        return _Process(kind.role, kind.name, number, order, always_numbered=True)
    name, made_by = note.get("name"), str(note["class"])
    if isinstance(name, str) and name and not _is_default(name, made_by):
        return _Process(WORKER, name, order=order)
    function = str(target or made_by).rpartition(".")[2].lstrip("_")
    return _Process(WORKER, function or WORKER, number, order, always_numbered=True)


def _is_default(name: str, made_by: str) -> bool:
    own = re.escape(made_by.rpartition(".")[2]) + _OWN_NUMBER
    return bool(_DEFAULT_NAME.fullmatch(name) or re.fullmatch(own, name))


def _is_below_a_rank(process: Mapping[str, Any], processes: Sequence[Mapping[str, Any]]) -> bool:
    """A child inherits the variables of the rank that started it."""
    while (parent := process["parent_index"]) is not None:
        process = processes[parent]
        if _read_note(process, RANK_NOTE):
            return True
    return False


def _program(program: str, short_name: str) -> _Process:
    """A Python program, by its command line."""
    for part, name in known.RAY_SERVICES.items():
        if part in program:
            return _Process(HELPER, name, serves=True)
    for part, kind in known.COMMANDS.items():
        if part in program:
            return _Process(kind.role, kind.name, always_numbered=kind.role == WORKER)
    name = program_name(program, short_name)
    return _Process(HELPER if name in known.LAUNCHERS else PROGRAM, name)


def _is_ray_worker(program: str, parent: _Process | None) -> bool:
    """A worker that was killed at its start recorded nothing, and has no command line."""
    if program:
        return known.RAY_WORKER in program or program.startswith(known.RAY_TITLE)
    return parent is not None and parent.name == known.RAYLET


def _ray_worker(program: str, note: Mapping[str, Any]) -> _Process:
    actor, tasks = note.get("actor"), note.get("tasks")
    if isinstance(actor, str):
        return _Process(known.ACTOR, actor)
    if isinstance(tasks, str):
        return _Process(known.TASK, tasks)
    if program.startswith(known.RAY_TITLE) and not program.startswith(known.RAY_IDLE):
        return _Process(HELPER, f"ray {program.removeprefix(known.RAY_TITLE)}", serves=True)
    return _Process(HELPER, "ray idle worker")


def program_name(program: str, short_name: str) -> str:
    """What a user calls a program: its script, -m and its module, or -c and the begin of its code.

    >>> program_name("python3 -u examples/train.py --seed 1", "python3")
    'train.py'
    >>> program_name("python -m cleanrl.ppo", "python")
    '-m cleanrl.ppo'
    >>> program_name("python -um cleanrl.ppo", "python")
    '-m cleanrl.ppo'
    >>> program_name("python - --seed 1", "python")
    'python -'
    >>> program_name("python -u", "python")
    'python -'
    >>> program_name("python -Ic import os; os.getpid()", "python")
    '-c import os; os.getpid()'
    """
    interpreter, *words = program.split() or [""]
    if not _PYTHON.fullmatch(os.path.basename(interpreter)):
        return short_name
    for place, word in enumerate(words):
        if _MODULE.fullmatch(word) and words[place + 1 :]:
            return f"-m {words[place + 1]}"
        if _CODE.fullmatch(word):
            return f"-c {_shortened(' '.join(words[place + 1 :]))}"
        if word == "-":
            return "python -"
        if not word.startswith("-") and (place == 0 or words[place - 1] not in ("-W", "-X")):
            return os.path.basename(word) or short_name
    return "python -"  # it reads its program


def _shortened(code: str) -> str:
    return code if len(code) <= _LONGEST_CODE else f"{code[: _LONGEST_CODE - 1]}…"


def _find_main(processes: Sequence[Mapping[str, Any]], found: Sequence[_Process]) -> None:
    """Gives the role `main` to the last image of the process that began first; where that is a
    helper, to the one program below helpers."""
    first = _identity(processes[0])
    root = max(index for index, each in enumerate(processes) if _identity(each) == first)
    if found[root].role in (PROGRAM, WORKER):
        found[root].role = MAIN
    elif found[root].role == HELPER:
        programs = [index for index, each in enumerate(found) if each.role == PROGRAM]
        outermost = [index for index in programs if not _is_below_others(index, processes, found)]
        if len(outermost) == 1:
            found[outermost[0]].role = MAIN
        elif not any(each.role != HELPER for each in found):
            found[root].role = MAIN


def _identity(process: Mapping[str, Any]) -> tuple[int, int]:
    return process["os_pid"], process["start_time"]


def _is_below_others(
    index: int, processes: Sequence[Mapping[str, Any]], found: Sequence[_Process]
) -> bool:
    """Whether a process of the algorithm is above it in the tree."""
    while (parent := processes[index]["parent_index"]) is not None:
        index = parent
        if found[index].role != HELPER:
            return True
    return False


def _names(processes: Sequence[Mapping[str, Any]], found: Sequence[_Process]) -> list[str]:
    numbers = _numbers(processes, found)
    taken = Counter(process["name"] for process in processes)
    names = []
    for index, (process, each) in enumerate(zip(processes, found, strict=True)):
        if process["name"]:
            names.append(process["name"])
            continue
        number = numbers.get(index)
        name = each.name if number is None else f"{each.name} {number}"
        taken[name] += 1
        names.append(name if taken[name] == 1 else f"{name} ({taken[name]})")
    return names


def _numbers(processes: Sequence[Mapping[str, Any]], found: Sequence[_Process]) -> dict[int, int]:
    """Index of a process -> the number in its name."""
    numbers: dict[int, int] = {}
    families: defaultdict[tuple[str, bool, int | None], list[tuple[int, int]]] = defaultdict(list)
    for index, each in enumerate(found):
        if processes[index]["name"] or each.role == MAIN:
            continue
        if each.number is not None:
            numbers[index] = each.number
            continue
        among = processes[index]["parent_index"] if each.always_numbered else None
        families[each.name, each.always_numbered, among].append((each.order, index))
    for (_, always, _), family in families.items():
        if always or len(family) > 1:
            numbers |= {index: place for place, (_, index) in enumerate(sorted(family))}
    return numbers


def _read_note(process: Mapping[str, Any], key: str) -> dict[str, Any]:
    """What a process noted of itself; a trace may hold anything there."""
    try:
        note = json.loads(process["metadata"].get(key, "{}"))
    except (ValueError, RecursionError):
        return {}
    return dict(_readable(note)) if isinstance(note, dict) else {}


def _readable(note: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in note.items():
        if isinstance(value, str):
            # Halves of surrogate pairs, on which DuckDB breaks, become text.
            yield key, value.encode(errors="backslashreplace").decode()[:_LONGEST_NAME]
        elif type(value) is int and 0 <= value < _MOST:
            yield key, value
