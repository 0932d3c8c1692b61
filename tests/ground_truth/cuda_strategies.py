"""Processes that hypothesis makes up around CUDA: calls of threads with and without operations,
work of several devices, contexts and streams, work without a launch and launches without work.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from hypothesis import strategies as st

from ground_truth.raw import CudaCall, Gpu, GpuWork, Kind, RawProcess, RawThread
from ground_truth.strategies import FLAVOURS, WINDOWS, nodes, threads

LATEST = 40
LENGTHS = (0, 1, 2, 3, 7, 15, 25)
LAST_END = LATEST + max(LENGTHS)
UNKNOWN = 999  # a correlation id that no call has
NO_STREAM = (1 << 32) - 1

_start = st.integers(0, LATEST)
_length = st.sampled_from(LENGTHS)
_least = st.sampled_from((0, 2, 4))
_name = st.sampled_from(
    (
        "cudaLaunchKernel",
        "cudaMemcpyAsync",
        "cudaMemcpyAsync",
        "cudaMemcpy",
        "cudaDeviceSynchronize",
        "cudaStreamSynchronize",
        "cudaEventQuery",
        "cudaMalloc",
        "cuModuleLoadData",
    )
)
_status = st.sampled_from((0, 0, 0, 1, 600))
_direction = st.sampled_from((1, 2, 8, 9, 10))
_memory = st.sampled_from((0, 1, 2, 3))
# (device, context): a device may have two contexts, whose streams have the same numbers.
_place = st.sampled_from(((0, 1), (0, 1), (1, 2), (0, 3)))
_kind = st.sampled_from((Gpu.KERNEL,) * 4 + (Gpu.MEMCPY, Gpu.MEMSET, Gpu.GRAPH, Gpu.OVERHEAD))


# What a copy with a wait of its own may look like.
_COPY = ["cudaMemcpyAsync", "cudaEventQuery", "cudaStreamSynchronize"]


@st.composite
def _calls(draw: st.DrawFn, sites: st.SearchStrategy[int]) -> list[CudaCall]:
    spans = draw(st.lists(st.tuples(_start, _length), min_size=draw(_least), max_size=6))
    names = draw(st.sampled_from((_COPY, [], [])))
    return [
        CudaCall(start, start + length, name or draw(_name), status=draw(_status), site=draw(sites))
        for (start, length), name in zip_longest(sorted(spans), names[: len(spans)])
    ]


@st.composite
def _work(draw: st.DrawFn, correlations: list[int]) -> GpuWork:
    start, kind, (device, context) = draw(_start), draw(_kind), draw(_place)
    how = draw(_direction) | draw(_memory) << 4 if kind is Gpu.MEMCPY else draw(_memory)
    return GpuWork(
        start,
        start + draw(_length),
        kind,
        device,
        draw(st.sampled_from((7, 7, 8))),
        context,
        draw(st.sampled_from([*correlations, *correlations, UNKNOWN, 0])),
        draw(st.sampled_from(("gemm", "_Z4gemmIfEvPT_i"))),
        draw(st.integers(0, 9)),
        how if kind in (Gpu.MEMCPY, Gpu.MEMSET) else 0,
        draw(st.sampled_from((0, 3))),
    )


@st.composite
def _copies(draw: st.DrawFn, drawn: list[RawThread]) -> list[GpuWork]:
    """What calls that copy between host and device did; some did it twice."""
    works = []
    for call in [call for thread in drawn for call in thread.cuda_calls]:
        for _ in range(draw(st.sampled_from((0, 1, 1, 2)))):
            if call.name.startswith("cudaMemcpy"):
                start, length = draw(_start), draw(_length)
                how = draw(st.sampled_from((1, 1, 2))) | draw(st.sampled_from((1, 1, 2))) << 4
                work = GpuWork(start, start + length, Gpu.MEMCPY, correlation=call.correlation)
                works.append(work._replace(how=how))
    return works


@st.composite
def _sync(draw: st.DrawFn, correlations: list[int]) -> GpuWork:
    """A record of a synchronisation: it names its context, and no device."""
    start = draw(_start)
    return GpuWork(
        start,
        start + draw(_length),
        Gpu.SYNC,
        0,
        draw(st.sampled_from((7, 8, 0, NO_STREAM))),
        draw(st.sampled_from((1, 1, 2, 3))),
        draw(st.sampled_from([*correlations, *correlations, *correlations, UNKNOWN, 0])),
        how=draw(st.sampled_from((0, 1, 2, 3, 3, 4, 4, 9))),
    )


def _numbered(drawn: list[RawThread], by_start: bool) -> list[RawThread]:
    """Threads whose calls have ids that count up with their starts, or thread by thread."""
    calls = [
        (thread, at) for thread, each in enumerate(drawn) for at in range(len(each.cuda_calls))
    ]
    if by_start:
        calls.sort(key=lambda place: drawn[place[0]].cuda_calls[place[1]].start_ns)
    ids = {place: number for number, place in enumerate(calls, start=1)}
    return [
        replace(
            each,
            cuda_calls=[
                call._replace(correlation=ids[thread, at])
                for at, call in enumerate(each.cuda_calls)
            ],
        )
        for thread, each in enumerate(drawn)
    ]


@st.composite
def cuda_processes(draw: st.DrawFn, *, shortest: int = 10) -> RawProcess:
    """A process of one to three threads that lasts at least `shortest`."""
    flavour = draw(st.sampled_from(sorted(FLAVOURS)))
    others = draw(st.lists(threads(flavour, main=False), max_size=2))
    main = draw(threads(flavour, main=True))
    drawn = [*others, main] if draw(st.booleans()) else [main, *others]
    if flavour != "windows" and draw(st.booleans()):
        drawn = [_without_windows(thread) for thread in drawn]
    stack_nodes = draw(nodes())
    sites = st.integers(0, len(stack_nodes) + 1) if stack_nodes else st.just(0)
    drawn = [replace(thread, cuda_calls=draw(_calls(sites))) for thread in drawn]
    drawn = _numbered(drawn, by_start=draw(st.booleans()))
    ids = [call.correlation for thread in drawn for call in thread.cuda_calls] or [UNKNOWN]
    works = draw(st.lists(_work(ids), min_size=2 * draw(_least), max_size=10))
    works += draw(st.lists(_sync(ids), min_size=draw(_least) // 2, max_size=4))
    works += draw(_copies(drawn))
    start = draw(st.sampled_from((0, 0, 2)))
    length = draw(st.sampled_from([each for each in (100, 100, 60, 25, 10) if each >= shortest]))
    return RawProcess(
        start_ns=start,
        end_ns=start + length,
        python_begin_ns=start,
        threads=tuple(drawn),
        gpu=works,
        nodes=stack_nodes,
    )


def _without_windows(thread: RawThread) -> RawThread:
    items = [item for item in thread.items if item.kind not in (*WINDOWS, Kind.GAP)]
    return replace(thread, items=items)
