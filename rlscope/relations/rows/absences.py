"""What a trace cannot fill, and why: the relation `absent`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlscope import _trace
from rlscope.relations.rows import cuda_rows
from rlscope.relations.schema import store
from rlscope.rundir.kept_iterations import IterationRange

ALL = "*"

_NO_EXIT = "a process did not end on an exit path: it was killed, replaced by exec, or still runs"
_NO_THREAD_TIMES = (
    "a thread was killed before rlscope asked the kernel about it twice, or the kernel does not "
    "count its time"
)
_NO_CALIBRATION = "too few probes ran, and no loop was measured at the end of the run"
_NO_CLOCK = "no process of the machine recorded anything"
_NO_RUN_JSON = "run.json is missing or damaged"
_NO_GPU = "no GPU work was recorded"
_NO_WORK = "GPU work of a process is not known"
_NO_GPU_OF_NVML = (
    "GPU work of a process is not known, or CUDA's number of a device does not say which GPU it is"
)
_NO_CUDA = "no CUDA call was recorded"
_ROLLED_UP = (
    "only what ended in the kept part has rows. The rest was rolled up (--rollup), until the time "
    "that loss rolled_up names"
)
_NO_STACKS = (
    "no stack of Python was read; rls-prof can read them of CPython 3.10 to 3.14 with a GIL "
    "(rlscope doctor)"
)
_NO_OWN_LINE = "no line of the program's own is on a stack, or a stack is not known"
_SINGLE = ("operation_instance", "event")
_NO_SYNC = "no CUDA synchronisation was recorded"

# (relation, column) -> reason, given when a row has NULL there; column * when there is no row.
_REASONS: Mapping[tuple[str, str], str] = {
    ("run", "command"): _NO_RUN_JSON,
    ("run", "version"): _NO_RUN_JSON,
    ("run", "start_time"): _NO_RUN_JSON,
    ("host", "name"): "the trace files name no machine",
    ("host", "cpu"): "run.json says nothing about this machine",
    ("host", "cores"): "run.json says nothing about this machine",
    ("host", "boot_id"): "the trace files name no boot of the machine",
    ("host", "clock"): _NO_CLOCK,
    ("host", "tsc_hz"): _NO_CLOCK,
    (
        "process",
        "parent_process_id",
    ): "a parent was not traced, or the process is the first of the run",
    ("process", "exit"): "a process reported no exit status: it was killed, replaced or still runs",
    ("process", "cpu_ns"): _NO_EXIT,
    ("process", "profiler_cpu_ns"): _NO_EXIT,
    ("process", "exit_flush_ns"): _NO_EXIT,
    ("process", "program"): "a process recorded nothing, so its command line was not stored",
    **{
        ("thread", column): _NO_THREAD_TIMES
        for column in ("running_ns", "runnable_ns", "measured_ns")
    },
    ("transition", ALL): "no crossing between layers was recorded",
    ("transition", "per_iteration"): "a process has no complete iteration",
    ("native_call", ALL): "no native call was recorded",
    ("wait", ALL): "no wait of 5 us or more was recorded",
    ("wait", "object"): "a wait was for something without a number: a lock, the GIL, a file, time",
    (
        "wait",
        "peer_process_id",
    ): "a wait was for no process, for one outside the run, or for several (relation wait_peer)",
    ("blocked", ALL): "no thread was asked for its state; rls-prof asks some 100 times a second",
    ("blocked", "blocked_ns"): "no reading fell into a state, which was too short",
    **{(relation, ALL): _NO_STACKS for relation in ("stack", "stack_time", "source_line")},
    ("stack", "parent_id"): "a thread began with such a call",
    ("stack", "line"): "the interpreter has no line for a call",
    ("source_line", "line"): f"the interpreter has no line for a call, or {_NO_OWN_LINE}",
    (
        "stack_time",
        "stack_id",
    ): "no stack could be read for a reading, or no reading fell into a state",
    **{("source_line", name): _NO_OWN_LINE for name in ("file", "function")},
    ("stack_time", "self_low_ns"): "no reading fell into a state, which was too short",
    ("stack_time", "self_high_ns"): "no reading fell into a state, which was too short",
    **{
        (relation, column): _NO_CALIBRATION
        for relation, names in (
            ("stack_time", ("self",)),
            ("source_line", ("self", "own", "total")),
        )
        for column in (f"{name}_corrected_ns" for name in names)
    },
    ("source_text", ALL): "rls-prof kept no text of a file in which it found the program",
    (
        "backward_line",
        ALL,
    ): "no backward was watched (rls-prof --lines=backward), or no reading fell into one",
    ("compilation", ALL): "no compiler that rlscope watches compiled anything",
    ("compilation", "file"): "no line of the program was on the stack when a function was compiled",
    ("compilation", "line"): "no line of the program was on the stack when a function was compiled",
    ("machine_sample", ALL): "no sample of the machine was taken; rls-prof takes one each second",
    ("collective", ALL): "no two processes of one parent took part in collectives of PyTorch",
    ("import", ALL): "no module took 1 ms to import in a process that uses a library that rlscope "
    "watches",
    ("import", "module"): "shorter imports of a process are one row",
    ("import", "imported_by"): "a module was imported by code that was not imported at that time",
    ("import", "asked_by"): "shorter imports of a process are one row",
    ("import", "is_own"): "shorter imports of a process are one row",
    ("unrecorded", "process_id"): "a process is not in the trace",
    ("unrecorded", "parent_process_id"): "the process that started one is not in the trace",
    ("unrecorded", "cpu_ns"): _NO_EXIT,
    ("unrecorded", "remedy"): "rlscope cannot record such a process, or another rls-prof does",
    ("utilisation", ALL): "the machine was not read twice while a process recorded",
    ("utilisation", "busy_ns"): _NO_GPU_OF_NVML,
    ("breakdown", "overhead_ns"): _NO_CALIBRATION,
    ("breakdown", "corrected_ns"): _NO_CALIBRATION,
    ("breakdown", "corrected_low_ns"): _NO_CALIBRATION,
    ("breakdown", "corrected_high_ns"): _NO_CALIBRATION,
    ("breakdown_by_thread", "overhead_ns"): _NO_CALIBRATION,
    ("breakdown_by_thread", "corrected_ns"): _NO_CALIBRATION,
    ("breakdown_by_thread", "corrected_low_ns"): _NO_CALIBRATION,
    ("breakdown_by_thread", "corrected_high_ns"): _NO_CALIBRATION,
    ("training_loop", "overhead_ns"): _NO_CALIBRATION,
    ("training_loop", "corrected_ns"): _NO_CALIBRATION,
    ("training_loop", "corrected_low_ns"): _NO_CALIBRATION,
    ("training_loop", "corrected_high_ns"): _NO_CALIBRATION,
    ("overhead", ALL): "nothing was recorded",
    (
        "overhead",
        "overhead_ns",
    ): "the cost of a kind of record is not known, such as CUDA calls without rlscope calibrate",
    ("calibration", "api"): "costs are those of all functions together",
    ("calibration", ALL): _NO_CALIBRATION,
    ("api_call", ALL): _NO_CUDA,
    ("sync", ALL): _NO_SYNC,
    **{(kind["name"], ALL): kind["absent"] for kind in _trace.GPU_KINDS if kind["is_work"]},
    ("gpu_time", ALL): _NO_GPU,
    ("gpu_device", ALL): _NO_GPU,
    ("gpu_timeline", ALL): _NO_GPU,
    ("api_call", "with_work"): _NO_WORK,
    ("stack_time", "gpu_ns"): _NO_WORK,
    ("source_line", "gpu_ns"): _NO_WORK,
    ("source_line", "total_gpu_ns"): _NO_WORK,
    ("breakdown", "gpu_busy"): _NO_WORK,
    ("breakdown_by_thread", "gpu_busy"): _NO_WORK,
    ("training_loop", "gpu_busy"): _NO_WORK,
    ("iteration_breakdown", "gpu_busy"): _NO_WORK,
    ("iteration", "kernels"): _NO_WORK,
    ("iteration", "busy_ns"): _NO_WORK,
    ("timeline", "gpu_busy"): _NO_WORK,
    ("idle", "gpu_busy"): _NO_WORK,
}

# Every run has rows of these; without one of `loss` nothing was lost.
_IN_EVERY_RUN = frozenset(
    {
        "run",
        "host",
        "absent",
        "process",
        "thread",
        "recording_window",
        "metadata",
        "loss",
        "breakdown",
        "breakdown_by_thread",
        "training_loop",
        "idle",
        "iteration_breakdown",
        "timeline",
    }
)
# For imported runs only. If rlscope recorded a run, it has no row because the program did nothing.
_OF_IMPORTS: Mapping[tuple[str, str], str] = dict.fromkeys(
    [
        ("process", "os_pid"),
        ("process", "python"),
        ("process", "forked"),
        ("process", "forks"),
        ("process", "python_start_ns"),
        ("process", "python_end_ns"),
        *(
            (relation.name, ALL)
            for relation in store.swept_relations()
            if relation.name not in _IN_EVERY_RUN and (relation.name, ALL) not in _REASONS
        ),
        ("api_call", "errors"),
    ],
    "",
)
_MARKED_AS = {"operation_instance": "operation"}  # else as itself

# What only rlscope records: no row of another tool's trace says it.
_OF_RLSCOPE = frozenset(
    {
        ("run", "command"),
        ("host", "cpu"),
        ("host", "cores"),
        ("host", "boot_id"),
        ("host", "clock"),
        ("host", "tsc_hz"),
        ("process", "parent_process_id"),
        ("process", "exit"),
        ("process", "cpu_ns"),
        ("process", "profiler_cpu_ns"),
        ("process", "exit_flush_ns"),
        ("process", "program"),
        ("wait", ALL),
        ("blocked", ALL),
        ("stack", ALL),
        ("stack_time", ALL),
        ("source_line", ALL),
        ("source_text", ALL),
        ("backward_line", ALL),
        ("compilation", ALL),
        ("import", ALL),
        ("collective", ALL),
        ("machine_sample", ALL),
        ("utilisation", ALL),
        ("overhead", ALL),
        ("calibration", ALL),
        *((name, column) for name, column in _REASONS if _REASONS[name, column] == _NO_CALIBRATION),
        *(
            (name, column)
            for name, column in _REASONS
            if _REASONS[name, column] == _NO_THREAD_TIMES
        ),
    }
)


class Absences:
    """Looks at the columns of relations as they are made."""

    def __init__(self, tool: str = "", marks: Mapping[str, str] | None = None) -> None:
        """A tool and its marks, if the run was imported.

        Args:
            tool: the one that recorded the run; empty: rlscope did.
            marks: relation -> what makes a row of it in the files.
        """
        self._tool = tool
        self._marks = marks or {}
        self._reasons = {**_REASONS, **_OF_IMPORTS} if tool else _REASONS
        self._filled: set[str] = set()
        self._null: set[tuple[str, str]] = set()
        self._no_work: dict[str, None] = {}
        self._rolled_up = ""

    def look(self, relation: str, columns: Mapping[str, Any]) -> None:
        """Takes note of the NULLs in some rows of a relation; no columns, no rows."""
        if not len(next(iter(columns.values()), ())):
            return
        self._filled.add(relation)
        for name, column in self._reasons:
            if name == relation and column != ALL and _has_null(columns.get(column)):
                self._null.add((name, column))

    def without_work(self, why: str) -> None:
        """Takes note of a process whose GPU work cannot be known."""
        self._no_work[why] = None

    def rolled_up(self, kept: Sequence[IterationRange]) -> None:
        """Takes note of a process whose single records are gone, except in kept iterations."""
        apart = [f"rows of {each} are in {each.folder}" for each in kept]
        self._rolled_up = "; ".join([_ROLLED_UP, *apart])

    def columns(self, no_cuda: str) -> dict[str, list[str]]:
        """The relation `absent`; `no_cuda` says why, if the run has nothing of CUDA at all."""
        nothing = self._filled.isdisjoint(cuda_rows.RELATIONS)
        no_work = "; ".join(self._no_work)
        reasons = {
            key: self._with_note(key[0], self._reason(key), no_cuda if nothing else no_work)
            for key in self._reasons
        }
        said = [
            (relation, column, reason)
            for (relation, column), reason in reasons.items()
            if (relation, column) in self._null or (column == ALL and relation not in self._filled)
        ]
        if self._rolled_up:
            said += [(relation, ALL, self._rolled_up) for relation in _SINGLE]
        names = ("relation", "column_name", "reason")
        columns = [list(column) for column in zip(*said, strict=True)]
        return dict(zip(names, columns or [[], [], []], strict=True))

    def _reason(self, key: tuple[str, str]) -> str:
        if not self._tool:
            return _REASONS[key]
        if key == ("run", "start_time"):
            return "the run was imported, and no file has a real clock"
        mark = self._marks.get(_MARKED_AS.get(key[0], key[0]))
        if key[1] == ALL and mark:
            return f"the run was imported, and its files have none; {mark} makes one"
        is_unknown = key in _OF_RLSCOPE or key in _OF_IMPORTS or key == ("native_call", ALL)
        return self._not_held() if is_unknown else _REASONS[key]

    def _not_held(self) -> str:
        return f"the run was imported, and traces of {self._tool} do not have it"

    @staticmethod
    def _with_note(relation: str, reason: str, note: str) -> str:
        told = note and (relation in cuda_rows.RELATIONS or reason in (_NO_WORK, _NO_GPU))
        return f"{reason}, because {note}" if told else reason


def _has_null(values: Any) -> bool:
    if values is None:
        return True
    if isinstance(values, np.ndarray) and values.dtype != object:
        return bool(np.ma.getmaskarray(values).any())
    return any(value is None for value in values)
