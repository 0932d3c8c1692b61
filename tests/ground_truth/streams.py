"""The brute-force twin, first part: raw tuples put in order, before any rule about states.

Times are moved into the process and made to run forwards, complete calls become a begin and a
return, and all items of all threads get one global order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ground_truth.automatic import Placed, find_changes
from ground_truth.missing import forwards
from ground_truth.raw import GpuWork, Item, Kind, RawProcess, RawThread
from ground_truth.rules import Rules

WINDOWS = (Kind.WINDOW_START, Kind.WINDOW_STOP)


class Span(NamedTuple):
    start_ns: int
    end_ns: int


class Event(NamedTuple):
    """Something that happens at an instant."""

    time_ns: int
    said_ns: int  # before it was moved into the process
    thread: int
    order: int  # in the thread's stream
    item: Item
    returns: bool = False  # the return of the complete call `item`


@dataclass
class Stream:
    """A thread with records."""

    number: int
    raw: RawThread
    is_main: bool
    life: Span
    events: list[Event]
    cuda_calls: list[Span]
    automatic: dict[int, str] = field(default_factory=dict)  # by order of the item: what opens


@dataclass
class Streams:
    """A process, in order. The last window is closed by the process's end when it has no stop."""

    process: RawProcess
    start_ns: int
    end_ns: int
    windows: list[Span]
    stopped: bool  # recording was off at the end
    threads: list[Stream]
    events: list[Event]
    gpu: list[tuple[Span, GpuWork]]

    def window_of(self, time_ns: int) -> int | None:
        """Which window an instant lies in; None: not recorded."""
        for number, window in enumerate(self.windows):
            last = number == len(self.windows) - 1 and not self.stopped
            at_end = last and time_ns == self.end_ns
            if window.start_ns <= time_ns < window.end_ns or at_end:
                return number
        return None


def put_in_order(process: RawProcess, rules: Rules) -> Streams:
    numbered = [pair for pair in process.numbered() if pair[1].items or pair[1].cuda_calls]
    events = [event for number, raw in numbered for event in _events(process, number, raw)]
    sign = -1 if rules.ties == "in reverse order" else 1
    events.sort(key=lambda e: (e.time_ns, _rank(e.item), e.said_ns, sign * e.thread, e.order))
    windows, stopped = _windows(process, events)
    start = windows[0].start_ns if windows else process.start_ns
    end = windows[-1].end_ns if windows else process.end_ns
    main = min((number for number, raw in numbered if raw.main), default=None)
    threads = [
        _stream(process, Span(start, end), number, raw, number == main, events, rules)
        for number, raw in numbered
    ]
    gpu = [
        (_inside(Span(work.start_ns, work.end_ns), Span(start, end)), work) for work in process.gpu
    ]
    streams = Streams(process, start, end, windows, stopped, threads, events, gpu)
    for thread in threads:
        thread.automatic = _automatic(streams, thread, rules)
    return streams


def _automatic(streams: Streams, thread: Stream, rules: Rules) -> dict[int, str]:
    placed = [
        Placed(event.time_ns, event.order, event.item, streams.window_of(event.time_ns))
        for event in thread.events
        if not event.returns
    ]
    return dict(find_changes(placed, rules))


def _rank(item: Item) -> int:
    """Where an item stands among those of its time: windows first, then phases."""
    return 0 if item.kind in WINDOWS else 1 if item.kind is Kind.PHASE else 2


def _events(process: RawProcess, number: int, raw: RawThread) -> Iterator[Event]:
    """Items of one thread: inside the process, never before the end of the item before."""
    for order, (item, placed) in enumerate(zip(raw.items, forwards(raw.items), strict=True)):
        begin, end = placed.time_ns, placed.end_ns
        yield Event(move_inside(begin, process), begin, number, order, item)
        if item.kind is Kind.CALL:
            yield Event(move_inside(end, process), end, number, order, item, returns=True)


def move_inside(time_ns: int, process: RawProcess) -> int:
    """The nearest time inside the process."""
    return min(max(time_ns, process.start_ns), process.end_ns)


def _windows(process: RawProcess, events: list[Event]) -> tuple[list[Span], bool]:
    """Where recording was on: from a start to the next stop; others of either are ignored."""
    switches = [e for e in events if e.item.kind in WINDOWS]
    on = not switches or switches[0].item.kind is Kind.WINDOW_STOP
    since, windows = process.start_ns, []
    for switch in switches:
        if on and switch.item.kind is Kind.WINDOW_STOP:
            windows.append(Span(since, switch.time_ns))
        if not on and switch.item.kind is Kind.WINDOW_START:
            since = switch.time_ns
        on = switch.item.kind is Kind.WINDOW_START
    if on:
        windows.append(Span(since, process.end_ns))
    return windows, not on


def _stream(
    process: RawProcess,
    whole: Span,
    number: int,
    raw: RawThread,
    is_main: bool,
    all_events: list[Event],
    rules: Rules,
) -> Stream:
    events = [event for event in all_events if event.thread == number]
    ends = [event.time_ns for event in events if event.item.kind is Kind.THREAD_END]
    calls = [
        Span(move_inside(start, process), move_inside(end, process))
        for start, end in forward_calls(raw)
    ]
    firsts = [event.time_ns for event in events[:1]] + [call.start_ns for call in calls[:1]]
    if is_main and process.python_begin_ns is not None:
        firsts.append(process.python_begin_ns)
    lives_on = rules.thread_after_its_end == "lives on"
    last = whole.end_ns if lives_on else min([*ends, whole.end_ns])
    life = _inside(Span(min(firsts), last), whole)
    # Items come before CUDA calls that start at their time, so the end of the thread does too.
    before = [call for call in calls if not ends or call.start_ns < min(ends)]
    cut = [Span(call.start_ns, min(call.end_ns, life.end_ns)) for call in before]
    return Stream(number, raw, is_main, life, events, cut)


def forward_calls(raw: RawThread) -> Iterator[Span]:
    """CUDA calls of one thread, one after the other."""
    earliest = 0
    for call in raw.cuda_calls:
        start = max(call.start_ns, earliest)
        earliest = max(call.end_ns, start)
        yield Span(start, earliest)


def _inside(span: Span, whole: Span) -> Span:
    start = min(max(span.start_ns, whole.start_ns), whole.end_ns)
    return Span(start, min(max(span.end_ns, start), whole.end_ns))
