"""The brute-force twin of the relations of CUDA calls and GPU work, whose rules are in
docs/reference/semantics.md#whose-call-whose-kernel and semantics.md#gpu.

Like the rest of the twin: the state at an instant by replaying everything before it, times by
looking at each elementary segment between boundaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from ground_truth.brute import iterations_of, loop_of
from ground_truth.cuda_process import Call, Cuda, find_calls, owner_at
from ground_truth.idle import idle_times
from ground_truth.raw import Gpu, GpuWork, RawProcess
from ground_truth.relations import (
    UNLINKED,
    ApiCall,
    CallSite,
    GpuTime,
    Graph,
    Iteration,
    IterationWork,
    Kernel,
    Loss,
    Memcpy,
    Memset,
    Rows,
    Sync,
)
from ground_truth.rules import CudaRules
from ground_truth.state_readings import stack_text
from ground_truth.streams import Span
from ground_truth.training_loop import stage_at

RIGHT = CudaRules()
NOT_READY = 600
DIRECTIONS = {
    1: "host_to_device", 2: "device_to_host", 8: "device_to_device", 9: "host_to_host",
    10: "peer_to_peer",
}  # fmt: skip
MEMORIES = {1: "pageable", 2: "pinned", 3: "device", 5: "managed"}
SYNCS = {1: "event", 2: "stream_wait_event", 3: "stream", 4: "device"}
NO_STREAM = (0, (1 << 32) - 1)


def relations(process: RawProcess, rules: CudaRules = RIGHT) -> Rows:
    """The relations of CUDA calls and GPU work, sorted, as `swept.sweep_cuda` answers."""
    cuda = find_calls(process, rules)
    unlinked = sum(cuda.launch_of(work) is None and cuda.counts(work) for work in cuda.work)
    found: Rows = {
        "api_call": _api_calls(cuda),
        "kernel": _grouped(cuda, Gpu.KERNEL, _kernel),
        "graph": _grouped(cuda, Gpu.GRAPH, _graph),
        "memcpy": _grouped(cuda, Gpu.MEMCPY, _memcpy),
        "memset": _grouped(cuda, Gpu.MEMSET, _memset),
        "sync": _syncs(cuda),
        "gpu_time": _gpu_times(cuda),
        "iteration_work": _iteration_work(cuda),
        "call_site": _call_sites(cuda),
        "idle": idle_times(cuda),
        "loss": [Loss("gpu_work_without_launch", unlinked)] if unlinked else [],
    }
    return {relation: sorted(rows) for relation, rows in found.items()}


# ---- calls --------------------------------------------------------------------------------------


def _api_calls(cuda: Cuda) -> list[ApiCall]:
    launched = {work.correlation for work in cuda.work}
    rows: dict[tuple[str, str], list[int]] = {}
    for span, operation, raw in cuda.calls:
        row = rows.setdefault((raw.name, operation), [0, 0, 0, 0])
        harmless = (0, NOT_READY) if cuda.rules.not_ready == "is no error" else (0,)
        row[0] += 1
        row[1] += span.end_ns - span.start_ns
        row[2] += raw.status not in harmless
        row[3] += raw.correlation != 0 and raw.correlation in launched
    return [ApiCall(*key, *row) for key, row in rows.items()]


# ---- work ---------------------------------------------------------------------------------------


class Group(NamedTuple):
    """Work of one kind that is one row: `key` is what separates the rows of its relation."""

    key: tuple[object, ...]
    works: list[GpuWork]
    cuda: Cuda

    @property
    def durations(self) -> list[int]:
        return [self.cuda.duration_of(work) for work in self.works]

    @property
    def launch_bound(self) -> int:
        return sum(_was_idle(self.cuda, work) for work in self.works)


def _grouped(cuda: Cuda, kind: Gpu, row: Callable[[Group], tuple[object, ...]]) -> list[
    tuple[object, ...]
]:  # fmt: skip
    groups: dict[tuple[object, ...], list[GpuWork]] = {}
    for work in cuda.work:
        if work.kind is kind and cuda.counts(work):
            name = work.name if kind is Gpu.KERNEL else ""
            graph = work.graph if kind is Gpu.GRAPH else 0
            how = work.how if kind in (Gpu.MEMCPY, Gpu.MEMSET) else 0
            key = (work.device, work.context, work.stream, name, graph, how)
            groups.setdefault((*key, cuda.operation_of(work)), []).append(work)
    return [row(Group(key, works, cuda)) for key, works in groups.items()]


def _was_idle(cuda: Cuda, work: GpuWork) -> bool:
    """Whether everything that started earlier on its stream had ended when it was launched."""
    launch = cuda.launch_of(work)
    if launch is None:
        return False
    instants = {
        "at the end of the launch": launch.span.end_ns,
        "at its start": launch.span.start_ns,
        "when work starts": work.start_ns,
    }
    return all(
        other.end_ns <= instants[cuda.rules.idle_stream]
        for other in cuda.work
        if other[3:6] == work[3:6] and other.start_ns < work.start_ns
    )


def _launched(group: Group) -> tuple[int, int, int, int, int]:
    durations = group.durations
    counts = len(durations), sum(durations), min(durations), max(durations)
    return (*counts, group.launch_bound)


def _kernel(group: Group) -> tuple[object, ...]:
    device, context, stream, name, _, _, operation = group.key
    return Kernel(device, context, stream, name, operation, *_launched(group))  # type: ignore[arg-type]


def _graph(group: Group) -> tuple[object, ...]:
    device, context, stream, _, graph, _, operation = group.key
    return Graph(device, context, stream, graph, operation, *_launched(group))  # type: ignore[arg-type]


def _sizes(group: Group) -> tuple[int, int, int]:
    return len(group.works), sum(work.size for work in group.works), sum(group.durations)


def _memcpy(group: Group) -> tuple[object, ...]:
    *stream, _, _, how, operation = group.key
    assert isinstance(how, int)
    direction, memory = DIRECTIONS.get(how & 15, "unknown"), MEMORIES.get(how >> 4, "unknown")
    return Memcpy(*stream, direction, memory, operation, *_sizes(group))  # type: ignore[arg-type]


def _memset(group: Group) -> tuple[object, ...]:
    *stream, _, _, how, operation = group.key
    assert isinstance(how, int)
    return Memset(*stream, MEMORIES.get(how, "unknown"), operation, *_sizes(group))  # type: ignore[arg-type]


# ---- synchronisation ----------------------------------------------------------------------------


def _syncs(cuda: Cuda) -> list[Sync]:
    rows: dict[tuple[str, str], list[int]] = {}
    for record in cuda.streams.process.gpu:
        launch = cuda.launch_of(record)
        if record.kind is not Gpu.SYNC or (launch is None and not cuda.counts(record)):
            continue
        span = launch.span if launch else Span(record.start_ns, record.end_ns)
        kind = SYNCS.get(record.how, "other")
        row = rows.setdefault((kind, launch.operation if launch else UNLINKED), [0, 0, 0])
        row[0] += 1
        row[1] += span.end_ns - span.start_ns
        row[2] += _waiting(cuda, record, kind, span)
    return [Sync(*key, *row) for key, row in rows.items()]


def _waiting(cuda: Cuda, record: GpuWork, kind: str, span: Span) -> int:
    waits = kind != "other" and (
        kind != "stream_wait_event" or cuda.rules.stream_wait_event == "waits"
    )
    if not waits:
        return 0
    if cuda.rules.waiting == "whole call":
        return span.end_ns - span.start_ns
    awaited = [work for work in cuda.work if _is_awaited(cuda, work, record, kind)]
    return sum(
        end - start
        for start, end in cuda.segments([span])
        if span.start_ns <= start < span.end_ns and any(_runs(work, start) for work in awaited)
    )


def _is_awaited(cuda: Cuda, work: GpuWork, record: GpuWork, kind: str) -> bool:
    of_stream = kind != "device" and record.stream not in NO_STREAM
    if of_stream and cuda.rules.waiting_for == "stream or device":
        return (work.context, work.stream) == (record.context, record.stream)
    works = cuda.streams.process.gpu
    device_of = {
        context: max(work.device for work in works if work.context == context)
        for context in {work.context for work in works}
    }
    if cuda.rules.context_device == "of the record":
        return work.device == record.device
    return device_of[work.context] == device_of[record.context]


def _runs(work: GpuWork, now: int) -> bool:
    return work.start_ns <= now < work.end_ns


# ---- times --------------------------------------------------------------------------------------


def _gpu_times(cuda: Cuda) -> list[GpuTime]:
    times: Counter[tuple[int, str, str]] = Counter()
    operations = {work: cuda.operation_of(work) for work in cuda.work}
    for start, end in cuda.segments([]):
        running = [work for work in cuda.work if _runs(work, start)]
        if not running:
            continue
        owner = owner_at(cuda.streams, start, cuda.rules)
        for device in {_device(cuda, work) for work in running}:
            here = [operations[work] for work in running if _device(cuda, work) == device]
            several = len(here) if cuda.rules.while_time == "sum" else 1
            times[device, owner, "while"] += several * (end - start)
            for operation, works in Counter(here).items():
                several = works if cuda.rules.launched_time == "sum" else 1
                times[device, operation, "launched"] += several * (end - start)
    return [
        GpuTime(device, operation, *(times[device, operation, when] for when in _WHEN))
        for device, operation in {key[:2] for key in times}
    ]


_WHEN = ("while", "launched")


def _device(cuda: Cuda, work: GpuWork) -> int:
    return work.device if cuda.rules.gpu_time_devices == "apart" else 0


def _iteration_work(cuda: Cuda) -> list[IterationWork]:
    """By the iteration in which the call that launched it began."""
    iterations = iterations_of(cuda.streams, cuda.rules)
    kernels: Counter[int] = Counter()
    busy_ns: Counter[int] = Counter()
    found = {work: _iteration_of(cuda, work, iterations) for work in cuda.work}
    for work in cuda.work:
        if cuda.counts(work):
            all_work = cuda.rules.iteration_kernels == "all work"
            kernels[found[work]] += all_work or work.kind in (Gpu.KERNEL, Gpu.GRAPH)
    for start, end in cuda.segments([]):
        if work := _first_running(cuda, start):
            busy_ns[found[work]] += end - start
    numbers = sorted(kernels.keys() - {-1})
    return [IterationWork(number, kernels[number], busy_ns[number]) for number in numbers]


def _iteration_of(cuda: Cuda, work: GpuWork, iterations: list[Iteration]) -> int:
    """Its number, -1: none."""
    launch = cuda.launch_of(work)
    if launch is None:
        return -1
    of_work = cuda.rules.iteration_work == "of the work"
    now = work.start_ns if of_work else launch.span.start_ns
    window = cuda.streams.window_of(now)
    inside = [
        row.iteration
        for row in iterations
        if row.start_ns <= now and cuda.streams.window_of(row.start_ns) == window
    ]
    return max(inside, default=-1) if window is not None else -1


def _first_running(cuda: Cuda, now: int) -> GpuWork | None:
    """Whose the time is; None: the GPU is idle."""
    running = [work for work in cuda.work if _runs(work, now)]
    running.sort(key=lambda work: (work.start_ns, work.device, work.context, work.stream))
    last = cuda.rules.simultaneous_work == "is the last one's"
    return running[-1 if last else 0] if running else None


# ---- stacks -------------------------------------------------------------------------------------


def _call_sites(cuda: Cuda) -> list[CallSite]:
    """None if the trace has the stack of no call."""
    if cuda.rules.call_sites == "if one is known" and not any(c.raw.site for c in cuda.calls):
        return []
    loop = loop_of(cuda.streams, cuda.rules)
    calls: Counter[tuple[str, str, str]] = Counter()
    gpu_ns: Counter[tuple[str, str, str]] = Counter()

    def key(launch: Call | None, operation: str, time_ns: int) -> tuple[str, str, str]:
        nodes = cuda.streams.process.nodes
        stack = stack_text(nodes, launch.raw.site, cuda.rules) if launch is not None else None
        return stack or "", stage_at(time_ns, loop, operation, cuda.rules), operation

    for call in cuda.calls:
        calls[key(call, call.operation, call.span.start_ns)] += 1
    for start, end in cuda.segments([]):
        if work := _first_running(cuda, start):
            launch = cuda.launch_of(work)
            of_work = launch is None or cuda.rules.site_stage == "of the work"
            time_ns = work.start_ns if launch is None or of_work else launch.span.start_ns
            gpu_ns[key(launch, cuda.operation_of(work), time_ns)] += end - start
    return [CallSite(*row, calls[row], gpu_ns[row]) for row in calls.keys() | gpu_ns.keys()]
