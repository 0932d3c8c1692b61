"""The brute-force twin of the relation `idle`: docs/reference/semantics.md#idle-time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ground_truth.brute import loop_of
from ground_truth.cuda_process import Call, Cuda
from ground_truth.pieces import Segment, is_gap, process_key, segments_of
from ground_truth.raw import Gpu
from ground_truth.relations import Idle
from ground_truth.rules import CudaRules
from ground_truth.state import (
    State,
    ThreadState,
    counted_frames,
    counted_threads,
    in_cuda_call,
    is_alive,
    is_collection,
    owner,
    thread_layer,
)
from ground_truth.training_loop import stage_at

_OF_LAYER = {"none": "none", "wait": "process", "python": "python", "simulator": "simulator",
             "framework": "framework", "cuda_api": "launch"}  # fmt: skip
_OF_WAIT = {"sleep": "sleep", "gil": "thread", "lock": "thread"}
_WAITS = ("cudaDeviceSynchronize", "cudaStreamSynchronize")
_SUBMITS = ("cudaLaunchKernel",)
_OTHERS = {"cudaMalloc": "allocation", "cuModuleLoadData": "compilation"}
_TO_DEVICE, _TO_HOST = 1, 2
_PAGEABLE, _PINNED = 1, 2


Stretch = tuple[int, int, bool]
"""From, to, and whether it is a sample."""
SAMPLE = "sample: "


def idle_times(cuda: Cuda, seen: Sequence[Stretch] | None = None) -> list[Idle]:
    """Durations by stage, operation, layer, GPU state and reason. `seen`: stretches in which all
    GPU work was recorded; None: it was everywhere. Reasons in a sample are marked."""
    loop = loop_of(cuda.streams, cuda.rules)
    reasons = _reasons_of_calls(cuda)
    times: Counter[tuple[str, str, str, bool | None, str]] = Counter()
    for segment in segments_of(cuda.streams, cuda.rules):
        key = process_key(segment)
        if key is None:
            continue
        _, operation, layer, busy = key
        reason = _reason(segment, layer, reasons, cuda.rules)
        stage = stage_at(segment.start_ns, loop, operation, cuda.rules)
        if seen is None:
            times[stage, operation, layer, busy, reason] += segment.duration_ns
            continue
        for now in range(segment.start_ns, segment.end_ns):
            samples = [is_sample for start, end, is_sample in seen if start <= now < end]
            mark = SAMPLE if any(samples) else ""
            times[stage, operation, layer, busy if samples else None, mark + reason] += 1
    return [Idle(*key, ns) for key, ns in times.items()]


def _reason(
    segment: Segment, layer: str, calls: dict[tuple[int, int], str], rules: CudaRules
) -> str:
    if is_gap(segment) or not segment.recorded:
        return _OF_LAYER[layer]
    state, now = segment.state, segment.start_ns
    inside = [each for each in counted_threads(state) if thread_layer(state, each, now) == layer]
    if not inside:
        return _OF_LAYER[layer]
    thread = next((each for each in inside if _is_first(state, each, rules)), inside[0])
    return _of_thread(state, thread, now, calls) or _OF_LAYER[layer]


def _is_first(state: State, thread: ThreadState, rules: CudaRules) -> bool:
    owning = owner(state)
    if owning is None:
        return thread.stream.is_main and rules.reason_without_owner == "of the main thread"
    return thread is owning and rules.reason_of == "the owner, else the first thread"


def _of_thread(
    state: State, thread: ThreadState, now: int, calls: dict[tuple[int, int], str]
) -> str | None:
    if not is_alive(thread, now):
        return None
    if in_cuda_call(state, thread, now):
        starts = [call.start_ns for call in thread.stream.cuda_calls if call.start_ns <= now]
        return calls[thread.stream.number, max(starts)]
    frames = counted_frames(state, thread)
    return _of_function(frames[-1].function, frames[-1].layer, state.rules) if frames else None  # type: ignore[arg-type]


def _of_function(function: str, layer: str, rules: CudaRules) -> str | None:
    if is_collection(function) and rules.reason_of_collections == "is their own":
        return "collection"
    if layer == "wait" and rules.reason_of_waits == "by their kinds":
        return _OF_WAIT.get(function.partition("|")[0])
    return None


# ---- CUDA calls -------------------------------------------------------------------------------


def _reasons_of_calls(cuda: Cuda) -> dict[tuple[int, int], str]:
    """By thread and start. Of several at one time, the last one lasts, if one does."""
    reasons = {}
    for thread in cuda.streams.threads:
        raw = set(map(id, thread.raw.cuda_calls))
        calls = [call for call in cuda.calls if id(call.raw) in raw]
        for place, call in enumerate(calls):
            reasons[thread.number, call.span.start_ns] = _of_call(cuda, call, calls[:place])
    return reasons


def _of_call(cuda: Cuda, call: Call, before: list[Call]) -> str:
    rules, name = cuda.rules, call.raw.name
    if _is_copy(cuda, call):
        return "copy"
    if name in _WAITS:
        follows = _follows_copy(cuda, before) and rules.wait_after_copy == "is the copy's"
        return "copy" if follows else "synchronisation"
    if name == "cudaMemcpy":
        return "synchronisation" if rules.copy_without_async == "waits" else "launch"
    if name == "cudaMemcpyAsync" and _waits_for_host(cuda, call):
        return "synchronisation"
    return _OTHERS.get(name, "launch")


def _waits_for_host(cuda: Cuda, call: Call) -> bool:
    direction, memory = _how(cuda, call)
    if direction != _TO_HOST or cuda.rules.copy_to_host == "is a launch":
        return False
    return memory == _PAGEABLE or cuda.rules.copy_to_host == "always waits"


def _is_copy(cuda: Cuda, call: Call) -> bool:
    """Whether it copies to the device from memory that makes it one."""
    direction, memory = _how(cuda, call)
    if not call.raw.name.startswith("cudaMemcpy") or direction != _TO_DEVICE:
        return False
    if memory == _PINNED:
        return cuda.rules.copy_from_pinned == "is a copy"
    return memory == _PAGEABLE and cuda.rules.copy_from_pageable == "is a copy"


def _follows_copy(cuda: Cuda, before: list[Call]) -> bool:
    """Whether the thread has copied, and neither submitted nor waited since."""
    for call in reversed(before):
        if _is_copy(cuda, call):
            return True
        name = call.raw.name
        is_submission = name in _SUBMITS or name.startswith("cudaMemcpy")
        if is_submission and cuda.rules.submission_after_copy == "changes nothing":
            continue
        if is_submission or name in _WAITS or cuda.rules.query_after_copy == "ends it":
            return False
    return False


def _how(cuda: Cuda, call: Call) -> tuple[int, int]:
    """Direction and memory of the copy that the call made; 0: not known."""
    copies = [
        work
        for work in cuda.streams.process.gpu
        if work.kind is Gpu.MEMCPY and work.correlation == call.raw.correlation != 0
    ]
    copies.sort(key=lambda work: (work.start_ns, work.device, work.context, work.stream))
    if not copies:
        return 0, 0
    how = copies[0 if cuda.rules.copies_of_one_id == "the first" else -1].how
    return how & 15, how >> 4
