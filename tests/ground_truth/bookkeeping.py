"""The brute-force twin of the records' costs: in which rows of the breakdowns they lie."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ground_truth.missing import SNAPSHOT
from ground_truth.raw import WAIT_PROBE, Kind
from ground_truth.relations import LAYERS, Bookkeeping, ThreadBookkeeping
from ground_truth.replay import apply, cuda_call_goes_on, replay
from ground_truth.rules import Rules
from ground_truth.state import (
    Path,
    State,
    ThreadState,
    gpu_busy,
    layer_in_frames,
    own_path,
    owner,
    process_path,
    thread_layer,
    works_for,
)
from ground_truth.streams import WINDOWS, Event, Stream, Streams
from ground_truth.training_loop import stage_at

Row = tuple[str, str, str, bool]
"""Phase, operation, layer, whether the GPU is busy."""
Text = Callable[[Path], str]

# What CUPTI leaves an activity record of.
_SUBMISSION = re.compile(
    r"(__)?cu(da)?(Launch(Cooperative)?Kernel|GraphLaunch|Memcpy|Memset|StreamWaitEvent"
    r"|(Stream|Event|Ctx|Device|Thread|ExecutionCtx)Synchronize)"
)
_OTHERS = (Kind.PHASE, Kind.ITERATION, Kind.TASK, Kind.PROGRESS_TOTAL, Kind.PROGRESS_DONE)


class Own(NamedTuple):
    """A thread by itself."""

    path: Path
    layer: str


class Record(NamedTuple):
    """A record, and the states of its thread in which it cost time."""

    time_ns: int
    thread: int
    kind: str
    inside: Own
    outside: Own
    count: int = 1
    leaves: bool = False


class Place(NamedTuple):
    """The process at the time of a record."""

    state: State
    now: int
    recorded: bool

    @property
    def phase(self) -> str:
        return self.state.phase

    @property
    def busy(self) -> bool:
        return gpu_busy(self.state, self.now)


def count_records(
    streams: Streams, rules: Rules, text: Text, loop: tuple[int, int] | None
) -> tuple[list[Bookkeeping], list[ThreadBookkeeping]]:
    """Records by stage and row of the process, and by thread and row of that.

    loop: begin and end of the training loop, if there is one.
    """
    of_process, of_threads = _Counts(), _Counts()
    for record in _records(streams, rules):
        place = _place(streams, record, rules)
        if not place.recorded:
            continue
        for side in ("inside", "outside"):
            own: Own = getattr(record, side)
            if rules.record_sides not in (side, "inside and outside"):
                continue
            row = (place.phase, text(own.path), own.layer, place.busy)
            of_threads.add((record.thread, *row, record.kind), side, record.count)
            row_of_process = _row_of_process(place, record.thread, own, text)
            if row_of_process is not None:
                stage = stage_at(place.now, loop, row_of_process[1], rules)
                of_process.add((stage, *row_of_process, record.kind), side, record.count)
    return (
        [Bookkeeping(*key, *counts) for key, *counts in of_process.rows()],  # type: ignore[arg-type]
        [ThreadBookkeeping(*key, *counts) for key, *counts in of_threads.rows()],  # type: ignore[arg-type]
    )


class _Counts:
    """Records inside and outside, by key."""

    def __init__(self) -> None:
        self.inside: Counter[tuple[object, ...]] = Counter()
        self.outside: Counter[tuple[object, ...]] = Counter()

    def add(self, key: tuple[object, ...], side: str, count: int) -> None:
        counter: Counter[tuple[object, ...]] = getattr(self, side)
        counter[key] += count

    def rows(self) -> Iterator[tuple[tuple[object, ...], int, int]]:
        """Key, inside, outside; of those that count something."""
        for key in self.inside.keys() | self.outside.keys():
            if self.inside[key] or self.outside[key]:
                yield key, self.inside[key], self.outside[key]


# ---- records ----------------------------------------------------------------------------------


def _records(streams: Streams, rules: Rules) -> Iterator[Record]:
    for event in streams.events:
        if _is_recorded(streams, event):
            state = _before(streams, event, rules)
            thread = _thread(state, event.thread)
            before = _own(state, thread, event.time_ns)
            apply(state, thread, event)
            yield from _of_event(state, thread, event, before)
    for stream in streams.threads:
        yield from _of_cuda_calls(streams, stream, rules)


def _before(streams: Streams, event: Event, rules: Rules) -> State:
    """The state when the thread makes this record: in the order of its own stream."""
    state = replay(streams, event.time_ns - 1, rules)
    for other in streams.events:
        own = other.thread == event.thread and other.order < event.order
        if other.time_ns == event.time_ns and (own or other.item.kind in WINDOWS):
            apply(state, _thread(state, other.thread), other)
    return state


def _thread(state: State, number: int) -> ThreadState:
    return next(each for each in state.threads if each.stream.number == number)


def _is_recorded(streams: Streams, event: Event) -> bool:
    """Whether a thread made it: in a window, before the end of the thread."""
    made = not event.returns and event.item.value != SNAPSHOT
    over = any(
        other.thread == event.thread
        and other.item.kind is Kind.THREAD_END
        and other.order < event.order
        for other in streams.events
    )
    return made and not over and streams.window_of(event.time_ns) is not None


def _own(state: State, thread: ThreadState, now: int) -> Own:
    in_cuda = cuda_call_goes_on(state, thread, now)
    layer = "cuda_api" if in_cuda else layer_in_frames(state, thread, now)
    return Own(own_path(thread, state.rules) or (), layer)


def _of_event(state: State, thread: ThreadState, event: Event, before: Own) -> Iterator[Record]:
    item, now, number = event.item, event.time_ns, event.thread
    after = _own(state, thread, now)
    if item.kind is Kind.ENTER:
        yield Record(now, number, "operation", after, before)
    elif item.kind is Kind.EXIT:
        leaves = state.rules.left_operation == "before its time"
        yield Record(now, number, "operation", before, after, leaves=leaves)
    elif item.kind in (Kind.AUTO_SEGMENT, Kind.AUTO_RESOLVE):
        yield Record(now, number, "automatic event", after, after)
    elif item.kind in (Kind.CALL, Kind.CALL_BEGIN):
        layer = state.streams.process.function_layers[item.name]
        kind = "wait" if layer == "wait" else "native call"
        if thread.frames[-1].outermost or state.rules.nested_records == "cost":
            yield Record(now, number, kind, after, before)
    elif item.kind is Kind.CALLBACK_BEGIN:
        yield Record(now, number, "callback", after, before)
    elif item.kind in _OTHERS:
        yield Record(now, number, "other record", after, after)
    elif item.kind is Kind.PROBE and (
        item.name != WAIT_PROBE or state.rules.wait_probes == "cost a probe"
    ):
        yield Record(now, number, "probe", after, after)
    elif item.kind is Kind.ROOM and state.rules.room_waits == "cost":
        yield Record(now, number, "ring wait", after, after, count=item.number)
    elif item.kind is Kind.SHORT_WAITS and state.rules.short_waits == "cost":
        yield Record(now, number, "short wait", after, after, count=item.number)
    elif item.kind is Kind.GAP and state.rules.lost_records == "cost":
        yield Record(now, number, "lost record", after, after, count=item.number)


def _of_cuda_calls(streams: Streams, stream: Stream, rules: Rules) -> Iterator[Record]:
    for call, raw in zip(stream.cuda_calls, stream.raw.cuda_calls, strict=False):
        if streams.window_of(call.start_ns) is None:
            continue
        submits = _SUBMISSION.match(raw.name) and rules.cuda_submissions == "by their names"
        kind = "CUDA submission" if submits else "CUDA call"
        state = replay(streams, call.start_ns, rules)
        thread = _thread(state, stream.number)
        path = own_path(thread, rules) or ()
        outside = Own(path, layer_in_frames(state, thread, call.start_ns))
        yield Record(call.start_ns, stream.number, kind, Own(path, "cuda_api"), outside)


# ---- rows -------------------------------------------------------------------------------------


def _place(streams: Streams, record: Record, rules: Rules) -> Place:
    """Once everything of the instant has happened; before it, where an operation is left and at the
    end of the process."""
    before, is_end = record.time_ns - 1, record.time_ns == streams.end_ns
    is_recorded = before >= streams.start_ns and streams.window_of(before) is not None
    now = before if (record.leaves or is_end) and is_recorded else record.time_ns
    return Place(replay(streams, now, rules), now, recorded=is_recorded or not is_end)


def _row_of_process(place: Place, number: int, own: Own, text: Text) -> Row | None:
    state, now, rules = place.state, place.now, place.state.rules
    owning = owner(state)
    main = next((each for each in state.threads if each.stream.is_main), None)
    thread = _thread(state, number)
    of_all = rules.records_of == "all threads" or (
        owning is None and rules.records_without_owner == "of all threads"
    )
    if of_all or thread is (owning or main):
        others = [
            thread_layer(state, each, now)
            for each in state.threads
            if each is not thread and (each is owning or works_for(each, owning, rules))
        ]
        if rules.record_layer == "of the thread":
            others = []
        layer = max([own.layer, *others], key=LAYERS.index)
        return place.phase, text(own.path), layer, place.busy
    if owning is None or thread.stream.is_main or own.path:
        return None
    working = [each for each in state.threads if each is owning or works_for(each, owning, rules)]
    may_wait = thread_layer(state, owning, now) not in ("none", "python")
    if rules.records_of_helpers == "always" or (
        may_wait and rules.records_of_helpers == "while the owner may wait"
    ):
        layer = max((thread_layer(state, each, now) for each in working), key=LAYERS.index)
        return place.phase, text(process_path(state)), layer, place.busy
    return None
