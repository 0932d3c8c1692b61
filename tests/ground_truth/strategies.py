"""Traces that hypothesis makes up: small times, so that everything ties, and few names, so that
operations re-enter and exits miss. Nothing is kept well-formed that a recorder could break.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from hypothesis import strategies as st

from ground_truth.raw import (
    FUNCTIONS,
    WAIT_PROBE,
    Auto,
    CudaCall,
    Gpu,
    GpuWork,
    Item,
    Kind,
    Node,
    RawProcess,
    RawThread,
    Stretch,
    compiled,
    resolve,
    segment,
)

OPERATIONS = ("train", "simulation", "a/b\\c", "Eval:x")
COMPILED = ("compiled:f", "compilation", "simulation")
PHASES = ("", "collect", "learn")
WINDOWS = (Kind.WINDOW_START, Kind.WINDOW_STOP)

_operation = st.sampled_from(OPERATIONS)
_function = st.sampled_from(sorted(FUNCTIONS))
_step = st.sampled_from((0, 0, 1, 1, 2, 3, 5))
_length = st.sampled_from((0, 1, 2, 3, 7))
_written = [state for state in Auto if state != Auto.EVALUATION]
_state = st.sampled_from((*_written, Auto.INSIDE, Auto.INSIDE, Auto.ASIDE, Auto.AFTER))
_compiled = st.sampled_from(COMPILED).map(lambda name: compiled(0, name))
_open_state = st.sampled_from(
    (Auto.INSIDE, Auto.ASIDE, Auto.AFTER, Auto.BETWEEN, Auto.TAIL, Auto.BLOCK)
)
_stretch = st.sampled_from((Stretch.KEEPS, *Stretch))
_target = st.sampled_from((Auto.INFERENCE, Auto.BACKPROP, Auto.BACKPROP, *_written))


def _item(kind: Kind) -> st.SearchStrategy[Item]:
    """An item of that kind at time 0."""
    if kind in (Kind.ENTER, Kind.EXIT):
        return _operation.map(lambda name: Item(0, kind, name))
    if kind is Kind.CALL:
        return st.tuples(_function, _length).map(lambda drawn: Item(0, kind, *drawn))
    if kind is Kind.CALL_BEGIN:
        return _function.map(lambda name: Item(0, kind, name))
    if kind is Kind.PHASE:
        return st.sampled_from(PHASES).map(lambda name: Item(0, kind, name))
    if kind is Kind.TASK:
        return st.integers(0, 2).map(lambda task: Item(0, kind, number=task))
    if kind is Kind.ITERATION:
        return st.integers(0, 3).map(lambda flags: Item(0, kind, number=flags))
    if kind in (Kind.PROGRESS_TOTAL, Kind.PROGRESS_DONE):
        return st.sampled_from((0.5, 1.0, 1e9)).map(lambda value: Item(0, kind, value=value))
    if kind in (Kind.PROBE, Kind.PROBE_RECORD):
        return st.sampled_from((0, 7, 1000)).map(lambda ticks: _of_recorder(kind, ticks))
    if kind is Kind.AUTO_SEGMENT:
        return _state.map(lambda state: segment(0, state)) | _compiled
    if kind is Kind.AUTO_RESOLVE:
        targets = st.dictionaries(_open_state, _target, min_size=1, max_size=6)
        return st.tuples(targets, _stretch).map(lambda drawn: resolve(0, *drawn))
    return st.just(Item(0, kind, number=int(kind is Kind.GAP)))


def _of_recorder(kind: Kind, ticks: int) -> Item:
    """A probe, or what one recorded. A third of them are probes of waits, and waits for room or
    too short for a record.
    """
    if ticks == 7 and kind is Kind.PROBE:
        return Item(0, kind, WAIT_PROBE, number=ticks)
    if ticks == 7:
        return Item(0, Kind.ROOM, number=ticks)
    if ticks == 1000 and kind is Kind.PROBE_RECORD:
        return Item(0, Kind.SHORT_WAITS, number=ticks)
    return Item(0, kind, number=ticks)


# How often each kind is drawn, relative to the others.
WEIGHTS = {
    Kind.ENTER: 10,
    Kind.EXIT: 8,
    Kind.CALL: 4,
    Kind.CALL_BEGIN: 3,
    Kind.CALL_END: 3,
    Kind.CALLBACK_BEGIN: 2,
    Kind.CALLBACK_END: 2,
    Kind.TASK: 3,
    Kind.PHASE: 2,
    Kind.ITERATION: 2,
    Kind.PROGRESS_TOTAL: 1,
    Kind.PROGRESS_DONE: 1,
    Kind.GAP: 1,
    Kind.WINDOW_START: 1,
    Kind.WINDOW_STOP: 1,
    Kind.AUTO_SEGMENT: 1,
    Kind.AUTO_RESOLVE: 1,
    Kind.PROBE: 1,
    Kind.PROBE_RECORD: 1,
}

# A process is about something: kinds that are drawn more often in all of its threads.
FLAVOURS: dict[str, dict[Kind, int]] = {
    "operations": {Kind.ENTER: 30, Kind.EXIT: 25},
    "tasks": {Kind.TASK: 15, Kind.ENTER: 20},
    "calls": {Kind.CALL_BEGIN: 10, Kind.CALL_END: 6, Kind.CALLBACK_BEGIN: 6, Kind.CALLBACK_END: 5},
    "windows": {Kind.WINDOW_START: 8, Kind.WINDOW_STOP: 8},
    "iterations": {Kind.ITERATION: 20, Kind.PHASE: 10},
    "automatic": {Kind.AUTO_SEGMENT: 90, Kind.AUTO_RESOLVE: 50, Kind.ENTER: 2, Kind.EXIT: 2},
    "evaluations": {},
    "polls": {},
    "everything": {},
}
POLLED = ("sleep|posix.read", "sleep|posix.read", "pipe 7|posix.read")
"""A poll that timed out, and the same that got something."""


def _item_of_evaluation(place: int) -> st.SearchStrategy[Item]:
    if place < 3:
        return st.sampled_from((Stretch.BEGINS, Stretch.WAS_EVALUATION, Stretch.WAS_NONE)).map(
            lambda stretch: resolve(0, {}, stretch)
        )
    if place < 6:
        return st.just(segment(0, Auto.SIMULATION))
    return _item(Kind.AUTO_SEGMENT if place < 9 else Kind.AUTO_RESOLVE)


def _item_of_polls(place: int) -> st.SearchStrategy[Item]:
    if place < 7:
        drawn = st.tuples(st.sampled_from(POLLED), st.sampled_from((1, 10, 100)))
        return drawn.map(lambda each: Item(0, Kind.CALL, *each))
    return _item((Kind.ENTER, Kind.EXIT, Kind.CALL)[place - 7])


def _items(flavour: str) -> st.SearchStrategy[Item]:
    weights = {**WEIGHTS, **FLAVOURS[flavour]}
    return st.sampled_from([kind for kind, n in weights.items() for _ in range(n)]).flatmap(_item)


ITEMS = {flavour: _items(flavour) for flavour in FLAVOURS}
ITEMS["evaluations"] = st.integers(0, 9).flatmap(_item_of_evaluation)
ITEMS["polls"] = st.integers(0, 9).flatmap(_item_of_polls)


# In a training loop names occur again, and some pauses are long. Learning is rare: nothing is set
# up after it.
_step_of_loop = st.sampled_from(
    ("act", "act", "Act:2", "simulation", "simulation", "a/b", "forward")
)
_any_step = st.integers(0, 9).flatmap(
    lambda number: st.sampled_from(("update", "loss", "Eval")) if number == 0 else _step_of_loop
)
_pause = st.sampled_from((1, 1, 2, 3, 8, 20))
_length_in_loop = st.sampled_from((0, 1, 2, 7, 30))
_beside = st.sampled_from(
    (WINDOWS[::-1], WINDOWS[::-1], (Kind.CALL,), (Kind.PHASE,), (Kind.PROBE_RECORD,))
).flatmap(lambda kinds: st.tuples(*map(_item, kinds)))
# How often a program comes back to an operation of its loop before it does anything else.
_trials = st.integers(0, 9).flatmap(
    lambda number: st.sampled_from((60, 61, 62, 63)) if number == 0 else st.just(0)
)
_set_up = st.sampled_from((["Setup:x"], ["Setup:x", "act"], ["Setup:x", "update"]))


def _operation_at(now: int, names: list[str], length: int) -> list[Item]:
    """Each in the one before."""
    entered = [Item(now, Kind.ENTER, name) for name in names]
    return [*entered, *(Item(now + length, Kind.EXIT, name) for name in reversed(names))]


@st.composite
def loops(draw: st.DrawFn) -> list[Item]:
    """Operations of one thread, one after another, some with another one inside; now and then
    something else happens between."""
    items: list[Item] = []
    now = draw(st.sampled_from((0, 1, 50)))
    for _ in range(draw(_trials)):
        items += _operation_at(now, ["act"], 1)
        now += 2
    for _ in range(draw(st.integers(5, 14))):
        kind = draw(st.sampled_from(("step", "step", "step", "set-up", "set-up", "other")))
        if kind == "other":
            items += [
                item._replace(time_ns=now + draw(_pause) * place)
                for place, item in enumerate(draw(_beside))
            ]
        elif kind == "set-up":
            items += _operation_at(now, draw(_set_up), draw(_pause))
        else:
            names = draw(st.lists(_any_step, min_size=1, max_size=2))
            items += _operation_at(now + draw(_pause), names, draw(_length_in_loop))
        now = items[-1].end_ns
    return items


@st.composite
def item_lists(draw: st.DrawFn, flavour: str, *, ends: bool) -> list[Item]:
    """Items of one thread. Each begins some steps after the one before ended; now and then a
    complete call is still running when the next item says it begins."""
    least = draw(st.sampled_from((0, 3, 8)))
    steps = draw(st.lists(st.tuples(_step, ITEMS[flavour]), min_size=least, max_size=18))
    backwards = draw(st.sampled_from((False, False, False, True)))
    lengths = [step + (0 if backwards else item.duration_ns) for step, item in steps]
    begins = list(accumulate([draw(st.integers(0, 9)), *lengths]))
    items = [
        item._replace(time_ns=begin + step)
        for begin, (step, item) in zip(begins, steps, strict=False)
    ]
    if ends and draw(st.booleans()):
        items.append(Item(begins[-1] + draw(_length), Kind.THREAD_END))
    return items


# Some leave an activity record, by their names, some do not.
_cuda_name = st.sampled_from(
    (
        "cudaLaunchKernel_v7000",
        "cuMemcpyHtoDAsync_v2",
        "cuStreamWaitEvent_ptsz",
        "cudaMalloc_v3020",
        "cuEventQuery",
        "cudaLaunchHostFunc",
    )
)


@st.composite
def cuda_calls(draw: st.DrawFn, latest: int) -> list[CudaCall]:
    """CUDA calls in order of start; some begin before the one before has ended."""
    spans = draw(st.lists(st.tuples(st.integers(0, latest), _length), max_size=4))
    return [
        CudaCall(start, min(start + length, latest), draw(_cuda_name))
        for start, length in sorted(spans)
    ]


@st.composite
def threads(draw: st.DrawFn, flavour: str, *, main: bool) -> RawThread:
    items = draw(item_lists(flavour, ends=not main))
    latest = 30
    if items and items[-1].kind is Kind.THREAD_END:
        latest = items[-1].time_ns
    return RawThread(
        items=items,
        cuda_calls=draw(cuda_calls(latest)),
        main=main,
        is_python=draw(st.sampled_from((True, True, True, False))),
    )


@st.composite
def losses(draw: st.DrawFn, thread: RawThread) -> RawThread:
    """The thread, of which a chunk is lost, if it has so many items."""
    if len(thread.items) < 2:
        return thread
    first = draw(st.integers(0, len(thread.items) - 2))
    last = draw(st.integers(first + 1, len(thread.items) - 1))
    return replace(thread, missing=(first, last))


_gpu_work = st.builds(
    lambda start, length, *rest: GpuWork(start, start + length, *rest),
    st.integers(0, 40),
    _length,
    st.sampled_from((Gpu.KERNEL, Gpu.KERNEL, Gpu.MEMCPY, Gpu.MEMSET, Gpu.GRAPH, Gpu.SYNC)),
    st.integers(0, 1),
    st.integers(7, 8),
)


def _states(until_ns: int) -> st.SearchStrategy[list[tuple[int, frozenset[int]]]]:
    """Readings in order of time, some of threads that are not there."""
    readings = st.tuples(st.integers(0, until_ns), st.frozensets(st.integers(1, 5), max_size=3))
    return st.lists(readings, max_size=6, unique_by=lambda reading: reading[0]).map(sorted)


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    """Few functions and lines, each call of a caller once; some nodes name a caller or a function
    that is not there."""
    functions = st.sampled_from(("f", "f", "f", "g", "g", "h", ""))
    drawn = [
        Node(draw(st.integers(0, number)), draw(functions), draw(st.integers(0, 2)))
        for number in range(1, 1 + draw(st.sampled_from((0, 4, 8))))
    ]
    return list(dict.fromkeys(drawn))


@st.composite
def with_readings(draw: st.DrawFn, process: RawProcess, until_ns: int) -> RawProcess:
    """The process, read until then. Some stacks are of threads or nodes that are not there."""
    drawn = draw(nodes())
    states = draw(_states(until_ns))
    numbers = st.lists(st.integers(0, len(drawn) + 1), min_size=1, max_size=4)
    stacks = {time_ns: dict(enumerate(draw(numbers), start=1)) for time_ns, _ in states}
    return replace(process, states=states, nodes=drawn, stacks=stacks)


@st.composite
def processes(draw: st.DrawFn) -> RawProcess:
    """A process of one to four threads and up to two GPUs. It may end before its last records."""
    flavour = draw(st.sampled_from(sorted(FLAVOURS)))
    first = draw(threads(flavour, main=draw(st.sampled_from((True, True, True, False)))))
    others = draw(st.lists(threads(flavour, main=False), max_size=3))
    start = draw(st.sampled_from((0, 0, 0, 2)))
    length = draw(st.sampled_from((60, 60, 40, 25, 10)))
    begin = draw(st.sampled_from((None, start, start, start + 3)))
    end = draw(st.sampled_from((None, None, start + length - 3)))
    drawn = [first, *others]
    # Windows in a lost chunk would be lost to the reader only: the writer's page still has them.
    if flavour != "windows" and draw(st.sampled_from((False, False, True))):
        if not any(item.kind in WINDOWS for thread in drawn for item in thread.items):
            drawn = [draw(losses(thread)) for thread in drawn]
    # Which paths come first is certain within one thread only.
    capped = not others and draw(st.sampled_from((False, True)))
    forked = draw(st.booleans())
    process = RawProcess(
        start_ns=start,
        end_ns=start + length,
        python_begin_ns=begin,
        python_end_ns=None if begin is None else end,
        threads=tuple(drawn),
        gpu=draw(st.lists(_gpu_work, max_size=6)),
        forked=forked,
        inherited=draw(st.lists(_operation, max_size=2)) if forked else (),
        most_paths=draw(st.integers(1, 3)) if capped else 16_384,
    )
    return draw(with_readings(process, start + length + 2))


@st.composite
def looping_processes(draw: st.DrawFn) -> RawProcess:
    """A process that is about its training loop. A worker may own it, too."""
    main = RawThread(items=draw(loops()))
    worker = draw(st.none() | threads("operations", main=False))
    others = () if worker is None else (worker,)
    end_ns = draw(st.sampled_from((300, 300, 60)))
    gpu = draw(st.lists(_gpu_work, max_size=2))
    process = RawProcess(end_ns=end_ns, threads=(main, *others), gpu=gpu)
    return draw(with_readings(process, end_ns))
