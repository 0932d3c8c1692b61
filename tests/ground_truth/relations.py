"""Rows of the relations that a sweep answers with, in one canonical form.

Operations, phases and functions are text; times are nanoseconds; layers are words. A relation is a
sorted list of rows, so that two implementations agree exactly when their lists are equal.
"""

from __future__ import annotations

from typing import NamedTuple

LAYERS = ("none", "wait", "python", "simulator", "framework", "cuda_api")
"""In the order in which the deepest one decides."""

NONE = "(none)"
NOT_RECORDED = "(not recorded)"
OTHER = "(other)"
UNLINKED = "(unlinked)"

AUTOMATIC = " (automatic)"
"""Ends path and name of an operation without annotation: another one than the annotated one."""


class Operation(NamedTuple):
    path: str
    parent: str | None
    name: str
    depth: int
    instances: int
    source: str


class Instance(NamedTuple):
    thread: int
    operation: str
    iteration: int  # -1: none had begun
    start_ns: int
    duration_ns: int
    self_ns: int
    ended: str


class Breakdown(NamedTuple):
    stage: str
    phase: str
    operation: str
    layer: str
    gpu_busy: bool
    duration_ns: int
    count: int


class ThreadBreakdown(NamedTuple):
    thread: int
    phase: str
    operation: str
    layer: str
    gpu_busy: bool
    duration_ns: int
    count: int


class StateReading(NamedTuple):
    stage: str
    operation: str
    layer: str
    stack: str
    """Functions and lines, the outermost first; empty: not known."""
    readings: int
    blocked: int


class Bookkeeping(NamedTuple):
    stage: str
    phase: str
    operation: str
    layer: str
    gpu_busy: bool
    kind: str
    inside: int
    outside: int


class ThreadBookkeeping(NamedTuple):
    thread: int
    phase: str
    operation: str
    layer: str
    gpu_busy: bool
    kind: str
    inside: int
    outside: int


class IterationTime(NamedTuple):
    iteration: int  # -1: outside of iterations
    operation: str
    layer: str
    gpu_busy: bool
    duration_ns: int


class Bucket(NamedTuple):
    level: int
    start_ns: int
    bucket_ns: int
    operation: str
    layer: str
    gpu_busy: bool
    duration_ns: int


class Window(NamedTuple):
    start_ns: int
    duration_ns: int


class Phase(NamedTuple):
    name: str
    start_ns: int
    duration_ns: int


class Iteration(NamedTuple):
    iteration: int
    start_ns: int
    duration_ns: int
    complete: bool
    gpu_recorded: bool
    source: str


class Progress(NamedTuple):
    start_ns: int
    done: float
    total: float


class Transition(NamedTuple):
    operation: str
    from_layer: str
    to_layer: str
    count: int
    per_iteration: float | None


class NativeCall(NamedTuple):
    function: str
    layer: str
    operation: str
    calls: int
    duration_ns: int
    self_ns: int


class Wait(NamedTuple):
    stage: str
    thread: int
    wait: str
    operation: str
    count: int
    duration_ns: int
    self_ns: int


class ApiCall(NamedTuple):
    name: str
    operation: str
    calls: int
    duration_ns: int
    errors: int
    with_work: int


class CallSite(NamedTuple):
    stack: str
    """As that of a StateReading."""
    stage: str
    operation: str
    calls: int
    gpu_ns: int


class Kernel(NamedTuple):
    device: int
    context: int
    stream: int
    name: str
    operation: str
    count: int
    duration_ns: int
    min_ns: int
    max_ns: int
    launch_bound: int


class Graph(NamedTuple):
    device: int
    context: int
    stream: int
    graph: int
    operation: str
    count: int
    duration_ns: int
    min_ns: int
    max_ns: int
    launch_bound: int


class Memcpy(NamedTuple):
    device: int
    context: int
    stream: int
    direction: str
    memory: str
    operation: str
    count: int
    bytes: int
    duration_ns: int


class Memset(NamedTuple):
    device: int
    context: int
    stream: int
    memory: str
    operation: str
    count: int
    bytes: int
    duration_ns: int


class Sync(NamedTuple):
    kind: str
    operation: str
    count: int
    duration_ns: int
    waiting_ns: int


class GpuTime(NamedTuple):
    device: int
    operation: str
    while_ns: int
    launched_ns: int


class IterationWork(NamedTuple):
    iteration: int
    kernels: int
    busy_ns: int


class Idle(NamedTuple):
    stage: str
    operation: str
    layer: str
    gpu_busy: bool | None
    reason: str
    duration_ns: int


class Loss(NamedTuple):
    kind: str
    count: int


class Life(NamedTuple):
    thread: int
    start_ns: int
    end_ns: int


Rows = dict[str, list[tuple[object, ...]]]

RELATIONS = {
    "operation": Operation,
    "operation_instance": Instance,
    "breakdown": Breakdown,
    "breakdown_by_thread": ThreadBreakdown,
    "state_reading": StateReading,
    "bookkeeping": Bookkeeping,
    "bookkeeping_by_thread": ThreadBookkeeping,
    "iteration_breakdown": IterationTime,
    "timeline": Bucket,
    "recording_window": Window,
    "phase": Phase,
    "iteration": Iteration,
    "progress": Progress,
    "transition": Transition,
    "native_call": NativeCall,
    "wait": Wait,
    "loss": Loss,
    "thread": Life,
}

CUDA_RELATIONS = {
    "api_call": ApiCall,
    "kernel": Kernel,
    "graph": Graph,
    "memcpy": Memcpy,
    "memset": Memset,
    "sync": Sync,
    "gpu_time": GpuTime,
    "iteration_work": IterationWork,
    "call_site": CallSite,
    "idle": Idle,
    "loss": Loss,
}
"""Those that only the pass over CUDA calls and GPU work answers with."""
