"""Relations of the run as a whole, its processes and threads, and of what they reported."""

from __future__ import annotations

from rlscope.relations.schema import columns

run = columns.relation(
    "run",
    "The traced run, in one row.",
    columns.text("run_id", "identity of the run"),
    columns.text("command", "the command line, secrets masked"),
    columns.text("name", "name given with --name, else the program"),
    columns.integer("start_ns", "start of the first process, ns of CLOCK_MONOTONIC"),
    columns.integer("end_ns", "end of the last process, recorded or not, ns of CLOCK_MONOTONIC"),
    columns.integer("cut_ns", "when recording was cut short in all processes; NULL: it was not"),
    columns.text("version", "version of rlscope that recorded the run"),
    columns.text("start_time", "when the run began, by the calendar, in UTC"),
    columns.text("options", "how it was recorded, as JSON"),
    columns.text(
        "nested", "directories of the runs of other rls-prof that this run started; NULL: none"
    ),
    columns.text(
        "imported", "tool and files that the run was imported from; NULL: rlscope recorded it"
    ),
)

host = columns.relation(
    "host",
    "A machine that took part in the run.",
    columns.integer("host_id", "id, counted from 0"),
    columns.text("name", "host name"),
    columns.text("boot_id", "boot id of the kernel: times of the same boot can be compared"),
    columns.text("cpu", "model name of the CPU"),
    columns.integer("cores", "CPUs that the run could use"),
    columns.text(
        "clock", "clock of the records: tsc, monotonic or virtual_counter; NULL: imported"
    ),
    columns.integer("tsc_hz", "ticks of this clock per second"),
)

absent = columns.relation(
    "absent",
    "Columns that this trace cannot fill. NULL there means unknown, never 0.",
    columns.text("relation", "name of the relation"),
    columns.text("column_name", "name of the column, * for the whole relation"),
    columns.text("reason", "why the trace cannot fill it"),
)

process = columns.relation(
    "process",
    "One executed image of one pid. Each fork and each exec begins a row.",
    columns.integer("process_id", "id, counted from 0 in order of start"),
    columns.integer(
        "parent_process_id", "process that forked or started this one; NULL: not traced"
    ),
    columns.integer("host_id", "host.host_id"),
    columns.integer("os_pid", "pid in its own pid namespace; NULL: an imported file lacks it"),
    columns.text(
        "name", "name given with rls.process(), else what it does: env worker 0, train.py"
    ),
    columns.text(
        "role",
        "main, program, rank, actor, task, environment worker, data loader worker, evaluator, "
        "worker, helper",
    ),
    columns.text("program", "command line, secrets masked"),
    columns.text("python", "version of the interpreter; NULL: another program"),
    columns.integer("start_ns", "first clock reading in the process"),
    columns.integer(
        "end_ns",
        "reading on the exit path, else when the process was found gone, else its last record",
    ),
    columns.integer("exit", "exit status; NULL: the process did not end on an exit path"),
    columns.integer("cpu_ns", "CPU time of all threads of the program, without the profiler's"),
    columns.integer("profiler_cpu_ns", "CPU time of the profiler's own threads in the process"),
    columns.integer("exit_flush_ns", "how long the exit waited until all records were written"),
    columns.text("ended", "source of end_ns: exit, gone, last_record or running"),
    columns.text("short_name", "name of the process in the kernel (comm), 15 characters"),
    columns.flag("forked", "whether it began by fork, not by exec"),
    columns.integer("forks", "children forked from this image"),
    columns.integer("python_start_ns", "when the interpreter was instrumented; NULL: never"),
    columns.integer("python_end_ns", "when the interpreter was finalised; NULL: never"),
    columns.integer(
        "events",
        "count of entered operations, native and CUDA calls, and GPU intervals that it recorded",
    ),
    columns.integer(
        "operation_events", "count of entered operations of the program, a part of events"
    ),
    columns.integer("automatic_events", "count of segments of automatic operations"),
    columns.integer("native_events", "count of native calls and waits"),
    columns.integer("cuda_events", "count of CUDA calls"),
    columns.integer("file_bytes", "size of its trace files"),
)

thread = columns.relation(
    "thread",
    "A thread that recorded something.",
    columns.integer("thread_id", "id, counted from 0 over all processes"),
    columns.process_id(),
    columns.integer("os_tid", "kernel thread id"),
    columns.text("name", "name of the thread"),
    columns.flag("is_python", "whether it is a thread of the interpreter"),
    columns.integer("start_ns", "first record of the thread"),
    columns.integer("end_ns", "exit of the thread, else end of the process"),
    columns.integer("running_ns", "time on a CPU in measured_ns; NULL: the kernel does not say"),
    columns.integer("runnable_ns", "time in measured_ns that the thread waited for a CPU"),
    columns.integer(
        "measured_ns", "from the first record to the end, or to the last reading of a killed thread"
    ),
)

recording_window = columns.relation(
    "recording_window",
    "A stretch in which the process recorded. Between stretches, the operation is (not recorded).",
    columns.process_id(),
    columns.start(),
    columns.integer("duration_ns", "length of the window"),
)

phase = columns.relation(
    "phase",
    "A phase of a process. Phases of one process do not overlap.",
    columns.process_id(),
    columns.text("name", "name of the phase"),
    columns.start(),
    columns.integer("duration_ns", "length of the phase"),
    layout=columns.PROCESS,
)

iteration = columns.relation(
    "iteration",
    "One pass of the training loop.",
    columns.process_id(),
    columns.integer("iteration", "number, from 0, in order of start"),
    columns.start(),
    columns.integer("duration_ns", "length; the last one lasts until the end of the window"),
    columns.flag("complete", "whether the next iteration began; false for the last one"),
    columns.flag(
        "gpu_recorded", "whether it is complete and all its GPU work was recorded (--gpu-share)"
    ),
    columns.integer("kernels", "kernels and graphs that it launched; NULL: not all were recorded"),
    columns.integer("busy_ns", "time in which the GPU was busy with what it launched"),
    columns.text("source", "explicit: rls.iteration(); automatic: found from the program's calls"),
    layout=columns.PROCESS,
)

calibration = columns.relation(
    "calibration",
    "The cost of one piece of bookkeeping.",
    columns.integer("calibration_id", "id, counted from 0"),
    columns.text("kind", "kind of record (overhead.kind)"),
    columns.text("api", "API function that the record surrounds; NULL: all functions"),
    columns.real("mean_ns", "mean CPU time that a record adds to the program"),
    columns.real("low_ns", "lower end of its 95 % interval"),
    columns.real("high_ns", "upper end of its 95 % interval"),
    columns.real("inside", "part of the cost that lies inside the interval of the record, 0 to 1"),
    columns.integer("samples", "number of measurements"),
    columns.text("method", "how it was measured"),
)

machine_sample = columns.relation(
    "machine_sample",
    "Readings of the machine about once a second.",
    columns.integer("host_id", "host.host_id"),
    columns.integer("process_id", "process.process_id; NULL: the whole machine"),
    columns.integer("start_ns", "when it was read, ns of CLOCK_MONOTONIC"),
    columns.text("metric", "name of the reading, with its unit"),
    columns.real("value", "the reading"),
)

utilisation = columns.relation(
    "utilisation",
    "What pollers reported about a device, beside what the trace knows about the same time.",
    columns.integer("host_id", "host.host_id"),
    columns.text("kind", "gpu, machine, core or process"),
    columns.integer("gpu", "number of the GPU in NVML and nvidia-smi; NULL for other kinds"),
    columns.integer("core", "number of the core; NULL for other kinds"),
    columns.integer("process_id", "process.process_id; NULL for other kinds"),
    columns.integer(
        "start_ns", "start of the first step that counts; a step lies between two readings"
    ),
    columns.integer("end_ns", "end of the last step that counts"),
    columns.integer("duration_ns", "sum of the steps that count"),
    columns.integer("readings", "number of the steps that count"),
    columns.real("polled_percent", "what the poller reported in these steps, averaged over time"),
    columns.integer(
        "busy_ns",
        "gpu: union of the run's GPU work in these steps; process: time in the layers python, "
        "simulator and framework",
    ),
    columns.integer("cuda_api_ns", "process: time in layer cuda_api"),
    columns.integer("waiting_ns", "process: time in layer wait"),
    columns.integer("cpu_ns", "process: its CPU time; machine: CPU time of the run's processes"),
)

loss = columns.relation(
    "loss",
    "Something that was not recorded, or had to be mended, and how much of it.",
    columns.integer("process_id", "process.process_id; NULL: the whole run"),
    columns.text("kind", "kind of loss"),
    columns.integer("count", "how often it happened, or how many records it took"),
    columns.integer("duration_ns", "how much time it took; NULL: it has no length"),
    columns.text("detail", "where it happened"),
)

progress = columns.relation(
    "progress",
    "A report of rls.progress(done, total).",
    columns.process_id(),
    columns.integer("start_ns", "when it was reported, ns of CLOCK_MONOTONIC"),
    columns.real("done", "how much was done, in the program's own unit"),
    columns.real("total", "how much there is in all"),
    layout=columns.PROCESS,
)

metadata = columns.relation(
    "metadata",
    "Metadata of rls.metadata(key=value). A key has its last value.",
    columns.process_id(),
    columns.text("key", "name"),
    columns.text("value", "value as JSON"),
)

source_text = columns.relation(
    "source_text",
    "Text of the program's own files of which stacks have lines, as they were during the run.",
    columns.text("file", "stack.file"),
    columns.integer("line", "from 1 on"),
    columns.text("text", "the line without its end"),
)

unrecorded = columns.relation(
    "unrecorded",
    "A process of the run that rlscope did not record, or whose Python it did not record.",
    columns.integer("process_id", "process.process_id; NULL: the process has no row there"),
    columns.integer(
        "parent_process_id", "process that started it, or was it before an exec; NULL: not traced"
    ),
    columns.integer("os_pid", "pid in the pid namespace of rls-prof"),
    columns.text("program", "command line, secrets masked, without the folder of its file"),
    columns.integer("start_ns", "when this program began, ns of CLOCK_MONOTONIC"),
    columns.integer("end_ns", "when rls-prof found it gone, else when rls-prof ended"),
    columns.integer("cpu_ns", "CPU time of the program; NULL: not known"),
    columns.text(
        "kind",
        "no recorder; no python layer: only its start and end are known; elsewhere: another "
        "rls-prof recorded it",
    ),
    columns.text("reason", "why it was not recorded"),
    columns.text("remedy", "how to record it; NULL: not known"),
)

compilation = columns.relation(
    "compilation",
    "A function that a library compiled for a line of the program, in a process.",
    columns.process_id(),
    columns.text("compiler", "JAX, TensorFlow, torch.compile, Numba or Triton"),
    columns.text("function", "name of the function; (backward): torch.compile's backward of one"),
    columns.text(
        "file",
        "file of the program whose code asked for it, else of the function; NULL: not known",
    ),
    columns.integer("line", "line in the file; NULL: not known"),
    columns.integer("count", "how often it was compiled; 0: it was only traced"),
    columns.integer("total_ns", "time of compiling it, without what was compiled for it meanwhile"),
    columns.integer("early_count", "of count: before the first update of the process"),
    columns.integer("early_ns", "of total_ns: the same"),
)

backward_line = columns.relation(
    "backward_line",
    "Time of PyTorch's backward that belongs to a line of the forward, from backwards that were "
    "watched (rls-prof --lines=backward).",
    columns.process_id(),
    columns.text(
        "file", "file of the line, of the program's own code, that made nodes of autograd"
    ),
    columns.integer("line", "line in the file"),
    columns.text("function", "function of the line"),
    columns.text("backward_file", "file of the line that ran the backward"),
    columns.integer("backward_line", "line in that file"),
    columns.text("stage", "breakdown.stage"),
    columns.integer("backward_ns", "part_ns / watched_ns of source_line.own_ns of the backward"),
    columns.integer("backwards", "backwards that the other line ran, in all stages"),
    columns.integer("watched", "how many of them were watched"),
    columns.integer("watched_ns", "time of the watched ones"),
    columns.integer("nodes", "nodes that the line made and that ran in them"),
    columns.integer("part_ns", "time of these nodes"),
)

import_ = columns.relation(
    "import",
    "A module that took 1 ms or more to import, with all that it imported.",
    columns.process_id(),
    columns.text("module", "name of the module; NULL: all shorter ones of the process together"),
    columns.integer("modules", "how many modules the row is about"),
    columns.text("imported_by", "module that imported it while it was imported itself; NULL: none"),
    columns.text(
        "asked_by",
        "file and line of the import; if imported_by is NULL, the innermost line of no library",
    ),
    columns.flag("is_own", "whether that line is the program's own and no library's"),
    columns.start(),
    columns.integer("total_ns", "length of the import, other imports inside included"),
    columns.integer("self_ns", "the same without imports inside it: these add up"),
    columns.integer("cpu_ns", "CPU time of the thread in self_ns"),
)

collective = columns.relation(
    "collective",
    "How long a process of a group waits in collectives for the latest process of the group.",
    columns.process_id(),
    columns.text(
        "name",
        "backward: of a model whose gradients are averaged; collective: other waits for one; "
        "broadcast: of a model's parameters",
    ),
    columns.integer("calls", "calls of the process"),
    columns.integer("meetings", "calls that every process of the group has"),
    columns.integer("duration_ns", "sum of the calls of these meetings"),
    columns.integer("waited_ns", "a part of it: until the latest process had begun its call"),
    columns.integer("last", "meetings to which the process came last"),
    columns.integer("late_ns", "in these, how long after the last but one"),
)
