"""Makes the relations of a trace from its files: one sweep per process, then the run as a whole."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rlscope import _trace, cuts
from rlscope.costs import record_costs
from rlscope.costs.probe_costs import ProbeSamples
from rlscope.relations.database import Database
from rlscope.relations.files.sink import Sink
from rlscope.relations.rows import (
    backward_lines,
    compilations,
    cuda_rows,
    idle,
    imported_places,
    imports,
    machine_samples,
    run_facts,
    source_texts,
    training_loop,
    unrecorded,
    utilisation,
)
from rlscope.relations.rows.absences import Absences
from rlscope.relations.rows.batches import Batches
from rlscope.relations.rows.breakdowns import Breakdowns
from rlscope.relations.rows.collectives import Call, Collectives
from rlscope.relations.rows.devices import Devices
from rlscope.relations.rows.known_collectives import FUNCTIONS
from rlscope.relations.rows.operations import RULES, Operations, read_rules
from rlscope.relations.rows.process_rows import ProcessRows
from rlscope.relations.rows.progress import Progress
from rlscope.relations.rows.roles import roles
from rlscope.relations.rows.waits import Waits
from rlscope.relations.schema import store
from rlscope.rundir import kept_iterations

_T = TypeVar("_T")

# A sweep releases the GIL and keeps a core busy; more results than this at once are only memory.
_MOST_WORKERS = 8

# Over the files of a process: the sweep, CUDA calls with GPU work, reasons, instances of
# operations.
_PASSES = 4

_PROCESS_COLUMNS = {
    "os_pid": "os_pid",
    "parent_process_id": "parent_index",
    "start_ns": "start_ns",
    "end_ns": "end_ns",
    "exit": "exit_code",
    "cpu_ns": "cpu_ns",
    "profiler_cpu_ns": "profiler_cpu_ns",
    "exit_flush_ns": "exit_flush_ns",
    "ended": "ended",
    "short_name": "comm",
    "forked": "forked",
    "forks": "forks",
    "python_start_ns": "python_begin_ns",
    "python_end_ns": "python_end_ns",
    "events": "events",
    "operation_events": "operation_events",
    "automatic_events": "automatic_events",
    "native_events": "native_events",
    "cuda_events": "cuda_events",
    "file_bytes": "file_bytes",
}


def build(
    directory: _trace.Directory,
    root: Path,
    sink: Sink,
    progress: Progress,
    costs: Mapping[str, Any] | None,
) -> None:
    """Puts every relation into `sink`, except those made on request.

    `costs`: what a calibration says of the records (calibrations.chosen).
    """
    with progress.of(_PASSES):
        batches = Batches(sink, directory.processes)
        _Build(directory, root, batches, progress, costs).run()
        batches.finish()


class _Found(NamedTuple):
    """What the passes over a process found."""

    swept: Mapping[str, Any]
    cuda: Mapping[str, Any]
    reasons: Mapping[str, Any]


class _Build:
    """Relations in the making. Small ones are collected over the processes, then put at once."""

    def __init__(
        self,
        directory: _trace.Directory,
        root: Path,
        sink: Sink,
        progress: Progress,
        costs: Mapping[str, Any] | None,
    ) -> None:
        self._directory = directory
        self._costs = costs
        self._progress = progress
        self._processes = directory.processes
        self._root = root
        self._sink = sink
        self._operations = Operations()
        self._run_json = run_facts.read_run_json(root)
        self._kept = kept_iterations.find(root)
        self._tool = run_facts.tool_of(self._run_json)
        self._absences = Absences(self._tool, imported_places.marks(self._processes))
        self._devices = Devices()
        self._waits = Waits()
        self._meeting: list[int] = []
        self._hosts = run_facts.host_ids(self._processes)
        self._samples = machine_samples.read(root, self._processes, self._hosts)
        self._utilisation = utilisation.Utilisation(self._samples)
        self._unrecorded = unrecorded.read(root, self._processes)
        self._grids = run_facts.time_grids(self._processes, self._hosts)
        self._breakdowns: list[Breakdowns] = []
        self._probes: list[ProbeSamples] = []
        self._gaps = {kind: record_costs.Gaps() for kind in record_costs.MEASURED}
        self._unseen: dict[int, int] = {}  # iterations of each process, for want of GPU work
        self._groups: dict[int, set[str]] = {}  # of operations, in the loop of each process
        self._own_folders = run_facts.own_folders(self._run_json)
        self._stack_files: set[str] = set()
        self._collected: dict[str, dict[str, list[Any]]] = {}

    def run(self) -> None:
        first_thread = 0
        sweeps = _ahead(self._sweep, [process["index"] for process in self._processes])
        for process, swept in zip(self._processes, sweeps, strict=True):
            first_thread += self._add_process(process, swept, first_thread)
        self._add_damage()
        self._put_run()

    def _sweep(self, index: int) -> _Found:
        grid = self._grids[self._hosts[index]]
        windows = self._iterations_in_windows(index)
        self._unseen[index] = 0 if windows is None else _unseen(windows)
        swept = self._directory.sweep(index, gpu=windows is None, grid=grid)
        self._progress.end_pass(index)
        loop = list(
            zip(*(swept["loop"][name].tolist() for name in ("start_ns", "end_ns")), strict=True)
        )
        times = loop[0] if loop else None
        cuda = self._directory.cuda_relations(index, loop=times)
        self._progress.end_pass(index)
        seen = None if windows is None else cuda_rows.seen_spans(windows)
        reasons = self._directory.idle(index, loop=times, seen=seen)
        self._progress.end_pass(index)
        return _Found(swept, cuda, reasons)

    def _iterations_in_windows(self, index: int) -> Mapping[str, Any] | None:
        """The iterations of a process that recorded GPU work in windows (--gpu-share); None: all of
        it was recorded."""
        notes = self._processes[index]["metadata"]
        if cuda_rows.NOTE not in notes or not cuda_rows.uses_windows(self._run_json):
            return None
        found = self._directory.iterations(index)
        return found if _unseen(found) else None

    def _add_process(
        self,
        process: Mapping[str, Any],
        found: _Found,
        first_thread: int,
    ) -> int:
        """Everything of one process; returns how many threads it has."""
        index, (swept, cuda, reasons) = process["index"], found
        ids = self._operations.number(swept["operation"])
        rows = ProcessRows(index, swept, ids, self._own_folders, cuda)
        threads = self._directory.threads(index)
        thread_ids = dense_ids(threads["thread"], first_thread)
        self._collect("thread", _thread_columns(threads, thread_ids(threads["thread"])), index)
        self._probes.append(ProbeSamples.of(swept["probe"]))
        for kind, counts in rows.repeated().items():
            self._gaps[kind].add(rows.recorded_ns(), counts)
        for name in ("recording_window", "loss"):
            self._collect(name, swept[name], index)
        self._collect("loss", cuda["loss"], index)
        self._collect("loss", _columns_of(self._losses(index)), index)
        if process["rolled_up"]:
            self._absences.rolled_up(self._kept)
        names = self._directory.names(index)["text"]
        self._waits.add(process, self._hosts[index], names, rows.waits(thread_ids))
        relations = {**rows.relations(), **cuda_rows.relations(cuda)}
        relations["idle"] = idle.columns(reasons, swept)
        if self._tool:
            relations["api_call"] = cuda_rows.without_errors(relations["api_call"])
        self._collect_notes(process, relations)
        unknown: Collection[str] = ()
        why = self._why_no_work(process, relations)
        relations["iteration"] = cuda_rows.of_iterations(
            relations["iteration"], cuda["iteration_work"], why
        )
        if why:
            in_part = why == cuda_rows.IN_WINDOWS
            relations = cuda_rows.without_work(relations, but="idle" if in_part else "")
            unknown = cuda_rows.OF_WORK
            self._absences.without_work(why)
        self._breakdowns.append(rows.breakdowns(thread_ids, work_is_known=not why))
        if self._hosts[index] == utilisation.HOST:
            self._utilisation.add(
                index,
                windows=swept["recording_window"],
                timeline=relations["timeline"],
                work_is_known=not why,
            )
        if not FUNCTIONS.isdisjoint(relations["native_call"]["function"]):
            self._meeting.append(index)
        for name, columns in relations.items():
            self._put(name, columns, index)
        self._put_iteration_times(swept, unknown, index)
        self._groups[index] = rows.groups_of_loop()
        instances = self._directory.instance_rows(
            index, first_thread=first_thread, operations=rows.operations()
        )
        self._sink.put_rows(store.operation_instance, instances, index)
        self._progress.end_pass(index)
        return len(threads["thread"])

    def _collect_notes(self, process: Mapping[str, Any], relations: Mapping[str, Any]) -> None:
        """What the process noted of itself, and the names of its GPUs."""
        index, notes = process["index"], process["metadata"]
        self._collect("metadata", _metadata(imports.others(notes)), index)
        self._collect("import", imports.columns(notes, self._own_folders), index)
        self._collect("compilation", compilations.columns(notes.get(compilations.NOTE)), index)
        gpu_time = relations["gpu_time"]
        gpu_time["gpu"] = self._devices.add(
            index,
            self._hosts[index],
            notes.get(cuda_rows.NOTE),
            gpu_time,
            imported_places.of_process(process).gpus_of,
        )

    def _put_iteration_times(
        self, swept: Mapping[str, Any], unknown: Collection[str], index: int
    ) -> None:
        """The relation `iteration_breakdown`: it has rows where `breakdown` has some."""
        relation = store.iteration_breakdown
        unknown = [name for name in unknown if name in relation.columns]
        rows = len(swept["breakdown"]["duration_ns"])
        self._absences.look(relation.name, {name: [None] * rows for name in unknown})
        self._sink.put_rows(relation, swept["iteration_breakdown"], index, unknown=unknown)

    def _losses(self, index: int) -> list[dict[str, Any]]:
        """What the process counted; why recording was cut short is known to the run."""
        cut = self._directory.cut
        why = {"detail": cuts.reason(cut["why"]) if cut else ""}
        losses = self._directory.losses(index)
        if unseen := self._unseen[index]:
            told = {"kind": "gpu_unrecorded", "count": unseen, "duration_ns": None, "detail": ""}
            losses = [*losses, told]
        return [{**loss, **why} if loss["kind"] == "cut" else loss for loss in losses]

    def _cut_ns(self) -> int | None:
        """When recording was cut short, if that met a process."""
        cut = self._directory.cut
        lost = self._collected.get("loss", {"kind": []})
        return cut["time_ns"] if cut and "cut" in lost["kind"] else None

    def _why_no_work(
        self, process: Mapping[str, Any], relations: Mapping[str, Mapping[str, Any]]
    ) -> str:
        """Why GPU work of the process is not known as a whole; empty where it is."""
        if self._unseen[process["index"]]:
            return cuda_rows.IN_WINDOWS
        if len(relations["gpu_time"]["device"]):
            return ""
        return cuda_rows.why_no_work(process["metadata"].get(cuda_rows.NOTE), self._run_json)

    def _add_damage(self) -> None:
        """Damage found in files is a loss of the whole run: its process may be what was hit."""
        problems = [*self._directory.problems, *run_facts.problems(self._root)]
        columns = {
            "kind": ["damaged_bytes" if each["bytes"] else "unreadable_file" for each in problems],
            "count": [each["bytes"] or 1 for each in problems],
            "detail": [self._place(each) for each in problems],
        }
        self._collect("loss", columns, None)

    def _place(self, problem: Mapping[str, Any]) -> str:
        """Where the damage is and what it is; files are named as seen from the trace."""
        root = f"{self._root}{os.sep}"
        file, what = (problem[key].replace(root, "") for key in ("file", "what"))
        return f"{file} at byte {problem['offset']}: {what}" if problem["bytes"] else what

    def _put_breakdowns(self) -> None:
        """The costs of records are those of the whole run, so every process was swept before."""
        samples = ProbeSamples.joined(self._probes)
        calibrated = record_costs.of_calibration(self._costs)
        if any(self._unseen.values()):
            calibrated = record_costs.in_windows(calibrated)
        costs = record_costs.of_run(self._samples.of_machine(), samples, self._gaps, calibrated)
        self._put("calibration", record_costs.columns(costs))
        times: dict[int, dict[str, Any]] = {}
        for breakdowns in self._breakdowns:
            found = breakdowns.relations(costs)
            times[breakdowns.process_id] = found["breakdown"]
            self._note_lines(breakdowns.process_id, found)
            for name, columns in found.items():
                if name == "overhead" and self._tool:
                    continue  # its rows are not records of ours
                self._put(name, columns, breakdowns.process_id)
        self._put_training_loop(times)

    def _note_lines(self, index: int, relations: Mapping[str, Any]) -> None:
        """What the stacks of a process say of other relations."""
        self._stack_files.update(relations["stack"]["file"])
        note = self._processes[index]["metadata"].get(backward_lines.NOTE)
        lines = backward_lines.columns(note, relations["source_line"])
        self._collect("backward_line", lines, index)

    def _put_training_loop(self, times: Mapping[int, Mapping[str, Any]]) -> None:
        """Needs the rows of `breakdown` of every process: who counts depends on all of them."""
        _, found = self._names_and_roles()
        lengths = {process: training_loop.length(rows) for process, rows in times.items()}
        loops = {process: length for process, length in lengths.items() if length is not None}
        for process_id in sorted(training_loop.counted(dict(enumerate(found)), loops)):
            rows = training_loop.rows(times[process_id])
            self._put("training_loop", rows, process_id)

    def _put_run(self) -> None:
        self._put_breakdowns()
        run = self._run_json
        nested = self._directory.nested
        self._put(
            "run",
            run_facts.run_columns(
                self._root,
                run,
                self._processes,
                self._cut_ns(),
                nested,
                unrecorded.end_ns(self._unrecorded),
            ),
        )
        self._put("host", run_facts.host_columns(run, self._processes))
        self._put("process", self._process_columns())
        operations = self._operations.columns(read_rules(self._told(RULES)))
        self._put("operation", operations)
        self._absences.look("operation_instance", operations)  # an operation was entered
        self._put("machine_sample", self._samples.columns)
        self._put("unrecorded", self._unrecorded)
        self._put("source_text", source_texts.columns(self._root, self._stack_files))
        self._put_utilisation()
        for name, columns in self._devices.relations(self._directory, self._grids).items():
            self._put(name, columns)
        self._put("wait", self._waits.columns())
        self._put("wait_peer", self._waits.peer_columns())
        self._put("collective", self._collectives())
        for name, columns in self._collected.items():
            self._put(name, columns)
        no_cuda = cuda_rows.why_nothing(self._told(cuda_rows.NOTE), run)
        self._sink.put(store.absent, self._absences.columns(no_cuda))

    def _collectives(self) -> dict[str, list[Any]]:
        """Processes with such calls are read once more, call by call."""
        found = Collectives()
        if len(self._meeting) > 1:
            database = Database(frugal=True)
            try:
                for index in self._meeting:
                    rows = self._directory.event_rows(index, first_thread=0, operations=[])
                    calls = [Call(*call) for call in database.calls_in(rows, FUNCTIONS)]
                    found.add(index, self._processes[index]["parent_index"], calls)
            finally:
                database.close()
        return found.columns()

    def _names_and_roles(self) -> tuple[list[str], list[str]]:
        command = run_facts.command_words(self._run_json)
        return roles(self._processes, self._groups, self._waits.giving(), " ".join(command))

    def _process_columns(self) -> dict[str, list[Any]]:
        names, found = self._names_and_roles()
        columns = process_columns(self._processes, self._hosts)
        if self._tool:
            unknown = [None] * len(self._processes)
            os_pids = [os_pid or None for os_pid in columns["os_pid"]]
            columns = {**columns, "os_pid": os_pids, "forked": unknown, "forks": unknown}
        return {**columns, "name": names, "role": found}

    def _put_utilisation(self) -> None:
        """Only its NULLs of GPUs are something that the trace lacks."""
        rows = self._utilisation.rows(self._directory, self._devices.uses(utilisation.HOST))
        relation = store.relations()["utilisation"]
        busy_ns = [row["busy_ns"] if row["kind"] == "gpu" else 0 for row in rows]
        self._absences.look(relation.name, {"busy_ns": busy_ns})
        self._sink.put(relation, utilisation.columns(rows))

    def _told(self, wanted: str) -> Iterator[str]:
        """The processes' own reports under one key of the metadata, as JSON."""
        told = self._collected.get("metadata", {"key": [], "value": []})
        pairs = zip(told["key"], told["value"], strict=True)
        return (value for key, value in pairs if key == wanted)

    def _collect(self, name: str, columns: Mapping[str, Any], process_id: int | None) -> None:
        """Adds rows to a relation that is put when every process has been swept."""
        wanted = [column.name for column in store.relations()[name].columns]
        collected = self._collected.setdefault(name, {column: [] for column in wanted})
        length = len(next(iter(columns.values()), ()))
        given = {**columns, "process_id": [process_id] * length}
        for column in wanted:
            values = given.get(column, [None] * length)
            collected[column] += values.tolist() if hasattr(values, "tolist") else values

    def _put(self, name: str, columns: Mapping[str, Any], process_id: int | None = None) -> None:
        self._absences.look(name, columns)
        self._sink.put(store.relations()[name], columns, process_id)


def _ahead(work: Callable[[int], _T], arguments: Iterable[int]) -> Iterator[_T]:
    """work(argument) in order, done by threads a few arguments ahead: what waits stays small."""
    workers = min(len(os.sched_getaffinity(0)), _MOST_WORKERS)
    with ThreadPoolExecutor(workers, thread_name_prefix="rlscope-sweep") as pool:
        waiting: deque[Future[_T]] = deque()
        for argument in arguments:
            waiting.append(pool.submit(work, argument))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _unseen(iterations: Mapping[str, Any]) -> int:
    """How many complete ones have GPU work that was not recorded."""
    return int(np.sum(iterations["complete"]) - np.sum(iterations["gpu_recorded"]))


def dense_ids(numbers: Any, first: int) -> Any:
    """A function from a process's own thread numbers to ids that are dense over the run.

    `numbers` ascend, and may be far from dense themselves where a trace is damaged.
    """
    return lambda values: first + np.searchsorted(numbers, values).astype(np.int64)


def process_columns(
    processes: Sequence[Mapping[str, Any]], hosts: Sequence[int]
) -> dict[str, list[Any]]:
    """The relation `process` without names and roles."""
    columns = {
        name: [process[key] for process in processes] for name, key in _PROCESS_COLUMNS.items()
    }
    return {
        **columns,
        "process_id": [process["index"] for process in processes],
        "host_id": list(hosts),
        "program": [process["program"] or None for process in processes],
        "python": [process["python"] or None for process in processes],
    }


# Columns of a thread; -1 if the kernel was not asked.
_SCHEDULED = ("running_ns", "runnable_ns", "measured_ns")


def _thread_columns(threads: Mapping[str, Any], thread_ids: Any) -> dict[str, Any]:
    known = {
        name: [None if value < 0 else value for value in threads[name].tolist()]
        for name in _SCHEDULED
    }
    return {**threads, **known, "thread_id": thread_ids}


def _metadata(entries: Mapping[str, str]) -> dict[str, list[str]]:
    return {"key": list(entries), "value": list(entries.values())}


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
