"""Rows of the relations that a sweep answers with, in one canonical form.

Operations, phases and functions are text; times are nanoseconds; layers are words. A relation is a
sorted list of rows, so that two implementations agree exactly when their lists are equal.
"""

from __future__ import annotations

from typing import NamedTuple

LAYERS = ("none", "python", "simulator", "framework", "cuda_api")

NONE = "(none)"
NOT_RECORDED = "(not recorded)"
OTHER = "(other)"

AUTOMATIC = " (automatic)"
"""Ends path and name of an operation that nobody annotated: another one than the annotated one."""


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


class NativeCall(NamedTuple):
    function: str
    layer: str
    operation: str
    calls: int
    duration_ns: int
    self_ns: int


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
    "timeline": Bucket,
    "window": Window,
    "phase": Phase,
    "iteration": Iteration,
    "progress": Progress,
    "transition": Transition,
    "native_call": NativeCall,
    "loss": Loss,
    "thread": Life,
}
