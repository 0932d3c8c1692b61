"""Offline half of the C++ core: open trace files, sweep them, write them. No process state.

Columns are numpy arrays unless they hold text, which is a list of str. All times are
CLOCK_MONOTONIC nanoseconds (int64). Every function releases the GIL while it works.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, Any]

FORMAT_VERSION: int
LAYERS: tuple[str, ...]
"""Names of the layers, by their numbers in the trace format."""
GPU_KINDS: tuple[dict[str, Any], ...]
"""Kinds of what a GPU does, by their numbers in the trace format (csrc/analysis/gpu/gpu_kinds.h).

name, is_work; of work, which has a relation of its name, also comment, absent (said where there is
none), keys and sums: columns as {"name", "comment", "is_text"}, those before the operation and
those behind the count.
"""
EVENT_KINDS: tuple[str, ...]
"""What `kind` can be in the relation `event`."""
RECORD_KINDS: tuple[str, ...]
"""What `kind` can be in the relation `overhead`, but for what the correction adds."""
LEARNING_NAMES: tuple[str, ...]
"""Names of operations of the group "learning" (csrc/analysis/keys/loop_names.h)."""

class TraceError(Exception):
    """The file is not a trace, or no part of it can be read."""

class RowStream:
    """Rows that are made while they are read, a few batches at a time; every reader has a pass of
    its own over the trace."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule that holds an ArrowArrayStream: Arrow's PyCapsule interface."""

    def columns(self) -> dict[str, NDArray[np.int64] | list[Any]]:
        """All rows, in memory: a list where a column has texts or None, else an array."""

class Directory:
    """A trace directory: processes.log, trace/*.rls and what live or dead rings still hold.

    Opening reads the log, maps the files and indexes their chunks; rings are read once, now, into
    memory, and nothing is ever written. Raises TraceError with a one-line reason.
    """

    def __init__(self, path: str, rings: str | None = None) -> None: ...
    @property
    def processes(self) -> list[dict[str, Any]]:
        """One dict per process image, in order of began_ns:

        index, os_pid, parent_index (None unknown), start_time, began_ns, start_ns, end_ns,
        ended ("exit" | "gone" | "last_record" | "running"), exit_code (None unknown), comm, name,
        program, python, python_begin_ns, python_end_ns (None: no Python), cpu_ns, profiler_cpu_ns,
        exit_flush_ns (None unknown), host, boot_id,
        clock ("tsc" | "monotonic" | "virtual_counter"), tick_hz,
        forked (bool), late_attach (bool), forks, files (list of paths), closed_files (of these,
        those to which nothing is written any more), file_bytes, events
        (begins + complete calls + gpu intervals), of these operation_events, automatic_events,
        native_events and cuda_events, metadata (dict key -> JSON text), rolled_up (bool).
        """

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Damage found while reading: {"file", "offset", "bytes", "what"}."""

    @property
    def cut(self) -> dict[str, int] | None:
        """Why and when recording was cut short, if it was: {"why", "time_ns"}; rlscope/cuts.py."""

    @property
    def nested(self) -> list[str]:
        """Directories of runs that processes of this one recorded: rls-prof under rls-prof."""

    def threads(self, process: int) -> Columns:
        """thread, os_tid, name, is_python, start_ns, end_ns; and running_ns, runnable_ns,
        measured_ns, of which -1 is not known."""

    def names(self, process: int) -> Columns:
        """id, kind, layer, text."""

    def losses(self, process: int) -> list[dict[str, Any]]:
        """{"kind", "count", "duration_ns", "detail"}: counted by the process and by the reader."""

    def iterations(self, process: int) -> Columns:
        """start_ns, end_ns, complete and gpu_recorded (0 or 1), in order: row n is iteration n.
        Found without a sweep, the rolled up ones among them."""

    def items(self, process: int, thread: int) -> Columns:
        """The thread's raw items, decoded: time_ns, kind, id, duration_ns, value (of probes and
        their calls: ticks of the clock)."""

    def cuda_calls(self, process: int, thread: int) -> Columns: ...
    def gpu_intervals(self, process: int) -> Columns: ...
    def sweep(
        self,
        process: int,
        *,
        by_thread: bool = True,
        counts: bool = True,
        buckets: int = 2000,
        gpu: bool = True,
        bookkeeping: bool = True,
        grid: tuple[int, int] = (0, 0),
        most_paths: int = 16_384,
    ) -> dict[str, Any]:
        """Every relation of one process that needs the merged order of its streams. Operation paths
        beyond `most_paths` are (other).

        Keys and columns (`operation` and `phase` columns are row numbers of the tables
        `operation` and `phase_name` of the same result; row 0 of both is "(none)"):

        operation            parent, name, path, depth, instances, source ("explicit"|"automatic")
        phase_name           name
        breakdown            stage, phase, operation, layer, gpu_busy, duration_ns, count
        breakdown_by_thread  thread + the same without stage        (by_thread)
        bookkeeping          stage, phase, operation, layer, gpu_busy, kind, inside, outside
                             (bookkeeping): records of RECORD_KINDS that cost time in such rows
        bookkeeping_by_thread  thread + the same without stage      (bookkeeping)
        probe                kind ("empty", "native_call", "annotation", "wait" or "short_wait"),
                             recorded (False: the same without a record), duration_ps (between the
                             two readings; of a wait, what recording took of it), inside_ps (of
                             what was recorded: as its own records have it; else NaN), of each
                             thread in the order of time. Picoseconds, because a tick of the clock
                             is a part of a nanosecond. What was rolled up has no probes any more
                             (bookkeeping)
        iteration_breakdown  a RowStream of the columns of the relation but process_id; gpu_busy
                             and complete are 0 or 1
        timeline             level, start_ns, bucket_ns, operation, layer, gpu_busy, duration_ns
                             (buckets > 0: the most at the finest level. `grid`: start and end of
                             the time that level 0 is for; (0, 0): the process's own)
        loop                 start_ns, end_ns: of the training loop; no row: there is none
        state_reading        stage, operation, layer, stack (of the next one, 0: not known),
                             readings, blocked
        stack                stack, parent (0: none), function, file, line (0: not known),
                             first_line: those of readings and their callers, by number; a caller
                             has a lower number than what it calls
        recording_window      start_ns, duration_ns
        phase                name, start_ns, duration_ns
        iteration            iteration, start_ns, duration_ns, complete, source
        progress             start_ns, done, total
        transition           operation, from_layer, to_layer, count, count_in_iterations
                                                                             (counts)
        native_call          function (text), layer, operation, calls, duration_ns, self_ns
                             (counts)
        loss                 kind, count, duration_ns, detail

        Layers are the numbers of trace.proto (0 none .. 4 cuda_api). A row of the gap between
        windows has operation "(not recorded)".
        """

    def instance_rows(
        self,
        process: int,
        *,
        first_thread: int,
        operations: Sequence[tuple[str, str, int]],
        most_paths: int = 16_384,
    ) -> RowStream:
        """The columns of the relation operation_instance but process_id, row after row.

        ended is one of "exit", "window", "process_end", "thread_end", "gap".

        first_thread: thread_id of the process's first thread. operations: path, source and
        operation_id of those that the sweep found, of other processes, too, if that is simpler.
        """

    def event_rows(
        self,
        process: int,
        *,
        first_thread: int,
        operations: Sequence[tuple[str, str, int]],
        most_paths: int = 16_384,
    ) -> RowStream:
        """The columns of the relation event but process_id; otherwise as instance_rows()."""

    def reached_ns(self, process: int) -> int:
        """The time in the process's life at which its latest pass is: a sweep, CUDA relations, or
        rows that are being read. May be called from any thread meanwhile."""

    def device_times(
        self, uses: Sequence[tuple[int, int]], *, grid: tuple[int, int], buckets: int = 2000
    ) -> Columns:
        """start_ns, bucket_ns, busy_ns: how long at least one of some processes kept a device busy,
        by buckets of level 0 of `grid`.

        Args:
            uses: processes, each with the number that the device has in it.
        """

    def device_busy_ns(
        self, uses: Sequence[tuple[int, int]], *, spans: Sequence[tuple[int, int]]
    ) -> int:
        """How long, within spans that ascend and do not overlap, at least one of some processes
        kept a device busy; `uses` as of device_times()."""

    def cuda_relations(
        self,
        process: int,
        *,
        loop: tuple[int, int] | None = None,
        most_paths: int = 16_384,
    ) -> dict[str, Columns]:
        """CUDA calls and GPU work by operation; all empty in a process without either. `loop`: the
        row of `loop` of `sweep`, if there is one, for the stages of `call_site`.

        Keys and columns (`operation` numbers rows of the table `operation` of this result; -1 is
        GPU work whose launch is not in the trace):

        operation  as of `sweep`
        api_call   name, operation, calls, duration_ns, errors, with_work
        kernel, memcpy and what else GPU_KINDS calls work
                   device, context, stream, operation, count, and the columns that it lists
        sync       kind, operation, count, duration_ns, waiting_ns
        gpu_time   device, operation, while_ns, launched_ns
        iteration_work
                   iteration, kernels, busy_ns: of iterations that launched work
        call_site  stack (0: not known), stage, operation, calls, gpu_ns: empty if no stack is known
        stack      as of `sweep`: those of `call_site` and their callers
        loss       kind, count, duration_ns, detail
        """

    def idle(
        self,
        process: int,
        *,
        loop: tuple[int, int] | None = None,
        seen: Sequence[tuple[int, int, bool]] | None = None,
        most_paths: int = 16_384,
    ) -> dict[str, Columns]:
        """Time by reason; of a process that was rolled up, that of the kept part. `loop` as of
        cuda_relations(). `seen`: begins and ends, in order, of the stretches in which all GPU work
        was recorded, and whether each is a sample, which stands for the time outside of them;
        None: all was recorded everywhere.

        operation  as of `sweep`
        idle       stage, operation, layer, gpu_busy, gpu_is_known, is_sample, reason, duration_ns.
                   Where the state of the GPU is not known, gpu_busy is false
        """

def roll_up(
    path: str,
    until_ns: int,
    *,
    origin_ns: int | None = None,
    least_saved: int = 0,
    buckets: int = 2000,
    most_paths: int = 16_384,
) -> dict[str, int]:
    """Rolls up what was recorded before `until_ns` in the trace directory `path`: sweeps it, keeps
    the state of the sweep in DIR/trace and removes the files that are not needed any more. All
    records of before must lie in files.

    origin_ns: where the timelines of the run begin; the first start of its processes by default.
    least_saved: bytes by which DIR has to shrink, for each process; less is left alone.

    Returns removed and written (bytes), origin_ns, and kept_whole: processes that cannot be rolled
    up, because they recorded CUDA.

    Raises:
        TraceError: it is no trace, or a file cannot be written.
        OSError: the sweep finds no room.
    """

class Writer:
    """Writes one .rls file, for importers and tests. Ticks are nanoseconds by default."""

    def __init__(
        self,
        path: str,
        *,
        os_pid: int,
        began_ns: int,
        start_time: int = 0,
        host: str = "",
        boot_id: str = "",
        main_thread: int = 0,
        clock_pairs: Sequence[tuple[int, int]] | None = None,
        windows: Sequence[tuple[int, bool]] = (),
    ) -> None:
        """`windows`: ticks at which recording stopped, or (True) started, whichever thread's items
        report it, in order; needed where a process records again after a stop."""

    def name(self, kind: int, text: str, layer: int = 0) -> int: ...
    def thread(self, thread: int, os_tid: int, name: str = "", is_python: bool = True) -> None: ...
    def metadata(
        self,
        entries: Mapping[str, str],
        *,
        process_name: str = "",
        program: str = "",
        python: str = "",
    ) -> None: ...
    def items(
        self,
        thread: int,
        ticks: NDArray[np.int64],
        kinds: NDArray[np.uint32],
        ids: NDArray[np.uint32],
        durations: NDArray[np.int64] | None = None,
        values: NDArray[np.uint64] | None = None,
    ) -> None: ...
    def states(self, samples: Sequence[tuple[int, Sequence[int], Mapping[int, int]]]) -> None:
        """Each a time, the numbers of the threads that were awake, and by number of a thread the
        node of its stack."""

    def stacks(
        self, functions: Sequence[tuple[str, str, int]], nodes: Sequence[tuple[int, int, int]]
    ) -> None:
        """Functions are (file, name, first line), nodes (parent, function, line), with numbers from
        1 on that go on from one call to the next; parent 0: none; line 0: not known."""

    def call_sites(
        self, functions: Sequence[tuple[str, str, int]], nodes: Sequence[tuple[int, int, int]]
    ) -> None:
        """The same of the stacks that made CUDA calls, once, with numbers of their own."""

    def open_wait(self, thread: int, ticks: int, id: int) -> None:
        """The next item of the thread, which is still to come, is a call that began at `ticks`."""

    def cuda_calls(
        self,
        thread: int,
        ticks: NDArray[np.int64],
        durations: NDArray[np.int64],
        names: NDArray[np.uint32],
        correlations: NDArray[np.int64],
        statuses: NDArray[np.uint32] | None = None,
        sites: NDArray[np.uint32] | None = None,
    ) -> None:
        """`sites`: nodes of call_sites(); 0: not known."""
    def gpu(
        self,
        device: int,
        context: int,
        stream: int,
        start_ns: NDArray[np.int64],
        duration_ns: NDArray[np.int64],
        kinds: NDArray[np.uint32],
        names: NDArray[np.uint32],
        correlations: NDArray[np.int64],
        sizes: NDArray[np.int64] | None = None,
        graphs: NDArray[np.uint32] | None = None,
        hows: NDArray[np.uint32] | None = None,
    ) -> None: ...
    def end(
        self,
        end_ns: int,
        *,
        exited: bool = True,
        python_begin_ns: int = 0,
        python_end_ns: int = 0,
        losses: Mapping[str, int] | None = None,
    ) -> None: ...
    def close_for_next(self) -> None:
        """Says that the process goes on in another file."""

    def close(self) -> None: ...

class SpillFile:
    """A temporary file without a name, in TMPDIR, for the sorted rows of all scans of an import."""

    def __init__(self) -> None: ...

class ImportedRows:
    """Rows of one process of another tool's trace, in any order: sorted, and written as a file.

    Memory does not grow with the rows: they go to `spill`. Of several processes the n-th, `part`,
    takes an n-th of it. Methods raise OSError when there is no room for rows.
    """

    os_pid: int
    """0: not known."""
    name: str
    """Of the program."""

    def __init__(self, spill: SpillFile, part: int = 1) -> None: ...
    @property
    def facts(self) -> dict[str, Any]:
        """first_ns and last_ns of all rows, empty, os_pid, name, has_gpu_work, devices (numbers of
        GPUs), steps (what the tool calls the iterations, in order), taken and not_taken (rows by
        what they are)."""

    def thread(
        self, key: str, *, os_tid: int = 0, name: str = "", is_python: bool = False
    ) -> int | None:
        """Number of the thread with this key, made if need be; None: there are too many."""

    def stream(self, device: int, context: int, stream: int) -> int | None:
        """Number of a stream of a GPU, made if need be; None: there are too many."""

    def text(self, kind: int, text: str, layer: int = 0) -> int:
        """Number of a name (rlscope.importing.name_kinds)."""

    def count(self, what: str, rows: int, *, taken: bool) -> None:
        """Adds to the facts taken or not_taken."""
    # Rows, with the numbers of above (uint32) and times in nanoseconds (int64). A row whose times
    # are none, or that ends before it begins, is left out; returns how many are in.
    def add_operations(
        self,
        threads: NDArray[Any],
        texts: NDArray[Any],
        start_ns: NDArray[Any],
        end_ns: NDArray[Any],
    ) -> int: ...
    def add_calls(
        self,
        threads: NDArray[Any],
        texts: NDArray[Any],
        start_ns: NDArray[Any],
        end_ns: NDArray[Any],
    ) -> int:
        """Of native functions."""

    def add_python(
        self, threads: NDArray[Any], start_ns: NDArray[Any], end_ns: NDArray[Any]
    ) -> int:
        """Functions of Python: those directly inside of a native call are callbacks."""

    def add_cuda_calls(
        self,
        threads: NDArray[Any],
        texts: NDArray[Any],
        start_ns: NDArray[Any],
        end_ns: NDArray[Any],
        correlations: NDArray[Any],
    ) -> int: ...
    def add_gpu(
        self,
        kind: int,
        streams: NDArray[Any],
        texts: NDArray[Any],
        start_ns: NDArray[Any],
        end_ns: NDArray[Any],
        correlations: NDArray[Any],
        sizes: NDArray[Any],
        hows: NDArray[Any],
        graphs: NDArray[Any],
    ) -> int:
        """Rows of one of GPU_KINDS, by its place; `hows`: csrc/trace/layout/cuda_interval.h."""

    def add_iteration(self, thread: int, start_ns: int) -> None:
        """An iteration begins; the last one is not complete."""

    def finish(self) -> None:
        """All rows are there."""

    def write(
        self,
        path: str,
        *,
        start_time: int,
        shift_ns: int = 0,
        host: str = "",
        program: str = "",
        metadata: Mapping[str, str] = ...,
    ) -> dict[str, int]:
        """Writes the process as a new trace file; `shift_ns` is added to every time.

        Returns losses by kind. Raises OSError.
        """

class KinetoScan:
    """A trace of torch.profiler (Kineto's Chrome trace)."""

    def __init__(self, spill: SpillFile) -> None: ...
    def read(self, read: Callable[[int], bytes]) -> None:
        """Reads all of the JSON; once. `read(n)` gives up to n bytes of it, none at its end.

        Raises:
            TraceError: it is no such JSON, or ends in the middle.
            OSError: no room for the rows.
        """

    @property
    def facts(self) -> dict[str, Any]:
        """base_ns (baseTimeNanoseconds, which is not in the rows), rank and world_size (None
        unknown), backend, host_name, devices (models of GPUs)."""

    def __len__(self) -> int:
        """Processes: one, unless a tool made the file of several."""

    def rows(self, process: int) -> ImportedRows: ...

class ChromeScan:
    """A trace in Chrome's format whose slices are operations: its processes, by place."""

    def __init__(self, spill: SpillFile) -> None: ...
    def read(self, read: Callable[[int], bytes]) -> None:
        """As KinetoScan.read()."""

    def __len__(self) -> int: ...
    def rows(self, process: int) -> ImportedRows: ...

class XprofScan:
    """A trace of XProf: one process. `operations`: names of rows that are operations."""

    def __init__(self, spill: SpillFile, operations: Sequence[str]) -> None: ...
    def read(self, read: Callable[[int], bytes]) -> None:
        """As KinetoScan.read()."""

    @property
    def operations(self) -> list[str]:
        """Those of the names that some row had."""

    @property
    def rows(self) -> ImportedRows: ...

class Lanes:
    """Lanes of tracks: in each of them intervals nest, or follow one another. An interval that
    overlaps another one in part is in the next lane that has room (csrc/exporters/lanes.h)."""

    def __init__(self) -> None: ...
    def add(
        self, tracks: NDArray[np.int64], starts_ns: NDArray[np.int64], ends_ns: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The lane of each interval, from 0.

        Intervals of one track come one behind the other, by start, and of one start the outer ones
        first; those of a later call go on where an earlier one ended.
        """

class PerfettoEncoder:
    """Tracks, slices, arrows and counters as Perfetto's protobuf packets, a part at a time.

    A `parent` is the uuid of a process, 0 of none.
    """

    def __init__(
        self,
        origin_ns: int,
        *,
        categories: Sequence[str],
        names: Sequence[str],
        operations: Sequence[str],
    ) -> None:
        """`origin_ns`: no time is before it. Slices name the texts by their places."""

    def process(self, pid: int, name: str, label: str, start_ns: int) -> int:
        """Describes a process; returns its uuid."""

    def thread(self, pid: int, tid: int, name: str) -> int:
        """Describes a thread; returns the uuid of its track."""

    def track(self, parent: int, name: str, rank: int) -> int:
        """Describes another track; returns its uuid. Tracks of one parent are shown by rank."""

    def counter(self, parent: int, name: str, unit: str) -> int:
        """Describes a counter; returns its uuid."""

    def slices(
        self,
        tracks: NDArray[np.int64],
        *,
        starts_ns: NDArray[np.int64],
        ends_ns: NDArray[np.int64],
        categories: NDArray[np.int64],
        names: NDArray[np.int64],
        flows: NDArray[np.int64],
        operations: NDArray[np.int64],
        correlations: NDArray[np.int64],
        bytes: NDArray[np.int64],
        graphs: NDArray[np.int64],
        whole_starts_ns: NDArray[np.int64],
        whole_ends_ns: NDArray[np.int64],
    ) -> None:
        """Encodes intervals, in the order of Lanes.add, by the uuid of their track.

        Arrows join intervals of one flow, 0: none. Operations, correlations, bytes and graphs are
        told unless -1, and the whole interval where it is not the slice.
        """

    def readings(
        self, counter: int, times_ns: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """Encodes all readings of a counter, by time."""

    def finish(self) -> None:
        """Ends what is open."""

    def take(self) -> bytes:
        """What was encoded since the last call."""

def process_record(
    event: int,
    *,
    pid: int,
    parent_pid: int = 0,
    start_time: int = 0,
    pid_namespace: int = 0,
    began_ns: int = 0,
    time_ns: int = 0,
    cpu_ns: int = 0,
    profiler_cpu_ns: int = 0,
    exit_flush_ns: int = 0,
    python_end_ns: int = 0,
    flags: int = 0,
    name: str = "",
) -> bytes:
    """The 128 bytes of one record of processes.log (csrc/trace/layout/shared_pages.h)."""

def overlap(streams: Mapping[str, Sequence[tuple[int, int]]]) -> Columns:
    """set (tuple of names), duration_ns, start_ns, end_ns: see rlscope.analysis.overlap."""
