"""The brute-force twin, second part: a process at one instant, and what the rules say about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from ground_truth.raw import Gpu
from ground_truth.relations import LAYERS, NONE
from ground_truth.rules import Rules
from ground_truth.streams import Stream, Streams

Path = tuple[str, ...]


def text(path: Path) -> str:
    """Names joined by "/", with "\\" and "/" in a name escaped."""
    escaped = [name.replace("\\", "\\\\").replace("/", "\\/") for name in path]
    return "/".join(escaped) or NONE


@dataclass(eq=False)
class Open:
    """An operation that was entered and not yet left."""

    name: str
    path: Path
    enter_ns: int
    order: int  # of the item that entered it
    phase: str


@dataclass(eq=False)
class Frame:
    """A native call, or a callback into Python (function ""), that is open."""

    function: str
    layer: str
    start_ns: int
    operation: Path | None  # the thread's own; None: it has none
    outermost: bool
    order: int  # of the item that began it


@dataclass
class ThreadState:
    stream: Stream
    begun: bool = False  # it has recorded something
    stacks: dict[int, list[Open]] = field(default_factory=dict)  # by task; 0 = outside any
    automatic: Open | None = None  # below all stacks
    task: int = 0
    frames: list[Frame] = field(default_factory=list)
    phase: str = NONE  # the last one this thread began: only a broken rule asks
    total: float = 0.0  # of the progress it reports

    def stack(self, task: int) -> list[Open]:
        return self.stacks.setdefault(task, [])


class Closed(NamedTuple):
    """An operation instance that ended."""

    thread: int
    open: Open
    end_ns: int
    ended: str


class Called(NamedTuple):
    """A native call that returned or was cut off."""

    thread: int
    frame: Frame
    end_ns: int


class Crossing(NamedTuple):
    """An entry of a thread into another layer."""

    time_ns: int
    path: Path
    before: str
    after: str


class Change(NamedTuple):
    """From `time_ns` on it is `value`, in the window numbered `window`."""

    time_ns: int
    value: str
    window: int


@dataclass
class State:
    """A process at one instant, and journals of what happened until then."""

    streams: Streams
    rules: Rules
    threads: list[ThreadState]
    phase: str = NONE
    iterating: dict[str, int] = field(default_factory=dict)  # source -> thread that owns its count
    phases: list[Change] = field(default_factory=list)
    iterations: list[Change] = field(default_factory=list)
    unseen: list[bool] = field(default_factory=list)  # before each begin: some GPU work was
    progress: list[tuple[int, float, float]] = field(default_factory=list)
    entered: list[Path] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    called: list[Called] = field(default_factory=list)
    crossings: list[Crossing] = field(default_factory=list)
    losses: Counter[str] = field(default_factory=Counter)


# ---- operations -------------------------------------------------------------------------------


def open_operations(thread: ThreadState, rules: Rules) -> list[Open]:
    """What is open on the thread at this instant, outermost first."""
    if rules.suspended_task == "keeps owning":
        below = [thread.automatic] if thread.automatic else []
        return below + [each for task in sorted(thread.stacks) for each in thread.stacks[task]]
    below, own = thread.stack(0), thread.stack(thread.task) if thread.task else []
    below = ([thread.automatic] if thread.automatic else []) + below
    if rules.task_stack == "alone" and thread.task:
        return own
    return own + below if rules.task_stack == "below the thread's" else below + own


def innermost(thread: ThreadState, rules: Rules) -> Open | None:
    stack = open_operations(thread, rules)
    if not stack:
        return None
    return stack[0] if rules.innermost == "outermost" else stack[-1]


def own_path(thread: ThreadState, rules: Rules) -> Path | None:
    opened = innermost(thread, rules)
    return opened.path if opened else None


def owner(state: State) -> ThreadState | None:
    """The thread whose operation is the process's."""
    rules = state.rules
    candidates = [each for each in state.threads if open_operations(each, rules)]
    if rules.main_thread == "owns first":
        candidates = [each for each in candidates if each.stream.is_main] or candidates
    sign = -1 if rules.owner_tie == "higher thread" else 1

    def rank(thread: ThreadState) -> tuple[int, int]:
        begun = open_operations(thread, rules)[0].enter_ns
        if rules.owner == "lowest thread":
            begun = 0
        return (-begun if rules.owner == "last begun" else begun, sign * thread.stream.number)

    return min(candidates, key=rank, default=None)


def process_path(state: State) -> Path:
    owning = owner(state)
    return (own_path(owning, state.rules) or ()) if owning else ()


# ---- layers -----------------------------------------------------------------------------------


def is_alive(thread: ThreadState, now: int) -> bool:
    return thread.stream.life.start_ns <= now < thread.stream.life.end_ns


def base_layer(state: State, thread: ThreadState, now: int) -> str:
    """The layer of a thread that is in no recorded native call: python, or none."""
    process, rules = state.streams.process, state.rules
    if not thread.stream.raw.is_python and rules.python_threads == "of the interpreter":
        return "none"
    begin = process.python_begin_ns if thread.stream.is_main else None
    end = process.python_end_ns if rules.python_until == "finalisation" else None
    begun = begin is None or begin <= now
    return "python" if begun and (end is None or now < end) else "none"


def layer_in_frames(state: State, thread: ThreadState, now: int) -> str:
    """The layer without CUDA calls: of the outermost native call since the last callback."""
    layer = base_layer(state, thread, now)
    for frame in counted_frames(state, thread):
        if frame.function or state.rules.callback == "is python":
            layer = frame.layer
    return layer


def counted_frames(state: State, thread: ThreadState) -> list[Frame]:
    """Those that are not a part of the call around them, the innermost last."""
    if state.rules.nested_calls != "belong to the outermost":
        return thread.frames
    return [frame for frame in thread.frames if frame.outermost or not frame.function]


def is_collection(function: str) -> bool:
    """Whether the function is a run of the garbage collector."""
    return function.startswith("gc:generation ")


def in_cuda_call(state: State, thread: ThreadState, now: int) -> bool:
    """Inside a CUDA call; one that began in a window is over at the window's end, at the latest,
    and one that began outside is not recorded."""
    window = state.streams.window_of(now)
    return any(
        call.start_ns <= now < call.end_ns and state.streams.window_of(call.start_ns) == window
        for call in thread.stream.cuda_calls
    )


def thread_layer(state: State, thread: ThreadState, now: int) -> str:
    if not is_alive(thread, now):
        before = now < thread.stream.life.start_ns
        early = before and state.rules.thread_before_first_record == "is python"
        return "python" if early else "none"
    if in_cuda_call(state, thread, now):
        return "cuda_api"
    return layer_in_frames(state, thread, now)


def process_layer(state: State, now: int) -> str:
    """The deepest layer over the owner and the threads that work for it."""
    rules = state.rules
    layers = [thread_layer(state, each, now) for each in counted_threads(state)]
    choose = min if rules.layer == "shallowest" else max
    order = [*LAYERS[:1], *LAYERS[2:], "wait"] if rules.wait_layer == "deepest" else LAYERS
    return choose(layers, key=order.index, default="none")


def counted_threads(state: State) -> list[ThreadState]:
    """The owner and the threads that work for it."""
    rules, owning = state.rules, owner(state)
    return [
        each
        for each in state.threads
        if each is owning
        or rules.layer_of == "all threads"
        or (rules.layer_of != "owner only" and works_for(each, owning, rules))
    ]


def works_for(thread: ThreadState, owning: ThreadState | None, rules: Rules) -> bool:
    """Whether a thread lends its layer; without an owner all do."""
    if open_operations(thread, rules):
        return False
    is_excepted = thread.stream.is_main and rules.main_thread_lends == "to no worker"
    return owning is None or not is_excepted


def gpu_busy(state: State, now: int) -> bool:
    """Whether any work runs on any device."""
    rules = state.rules
    running = [
        work
        for span, work in state.streams.gpu
        if span.start_ns <= now < span.end_ns
        and work.kind is not Gpu.OVERHEAD
        and (work.kind is not Gpu.SYNC or rules.gpu_kinds == "work and synchronisation")
    ]
    return len(running) > (1 if rules.gpu == "two at once" else 0)
