"""One traced process as plain values: what a recorder would have written, and nothing derived.

    thread = RawThread(items=[enter(1, "train"), leave(9, "train")])
    process = RawProcess(end_ns=10, threads=[thread])
    swept.sweep(process)["breakdown"]

Times count from any origin, 0 included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

# Native functions of the generated programs and the layer their library belongs to; and waits.
FUNCTIONS = {"env.step": "simulator", "env.reset": "simulator", "matmul": "framework",
             "backward": "framework", "pickle:loads": "python", "gil": "wait",
             "pipe 7|posix.read": "wait", "sleep|posix.read": "wait",
             "lock|_thread.lock.acquire": "wait",
             "gc:generation 1": "python"}  # fmt: skip


class Kind(IntEnum):
    """Kinds of items, numbered as in csrc/trace/layout/record.h."""

    ENTER = 1
    EXIT = 2
    PHASE = 3
    ITERATION = 4
    TASK = 5
    PROGRESS_TOTAL = 6
    PROGRESS_DONE = 7
    WINDOW_START = 8
    WINDOW_STOP = 9
    THREAD_END = 11
    GAP = 13
    ROOM = 14
    CALL = 15
    CALL_BEGIN = 16
    CALL_END = 17
    CALLBACK_BEGIN = 18
    CALLBACK_END = 19
    AUTO_SEGMENT = 20
    AUTO_RESOLVE = 21
    PROBE = 24
    PROBE_RECORD = 25
    SHORT_WAITS = 26


WAIT_PROBE = "wait"
# A segment from this state on is the operation whose name has the id state - NAMED.
NAMED_STATE = 16


class Auto(IntEnum):
    """States of a segment of the automatic track: AutoState of csrc/trace/layout/record.h."""

    NOTHING = 0
    INFERENCE = 1
    BACKPROP = 2
    SIMULATION = 3
    BLOCK = 4
    INSIDE = 5
    BETWEEN = 6
    AFTER = 7
    TAIL = 8
    ASIDE = 9
    TARGET = 10
    GENERATION = 11
    ADVANTAGE = 12
    REFERENCE = 13
    REWARD = 14
    REPLAY = 15
    EVALUATION = -1  # in no record: what a stretch turned out to be


class Stretch(IntEnum):
    """What a resolve says of a stretch that may be an evaluation: AutoStretch of the same file."""

    KEEPS = 0
    BEGINS = 1
    WAS_NONE = 2
    WAS_EVALUATION = 3


OPEN_STATES = range(Auto.BLOCK, Auto.ASIDE + 1)


class Name(IntEnum):
    """Kinds of names, numbered as NameKind in csrc/trace/format/trace.proto."""

    OPERATION = 1
    PHASE = 2
    FUNCTION = 3
    CUDA_CALL = 4
    KERNEL = 5


class Gpu(IntEnum):
    """Kinds of GPU work, numbered as GpuKind in csrc/trace/format/trace.proto."""

    KERNEL = 1
    MEMCPY = 2
    MEMSET = 3
    GRAPH = 4
    SYNC = 5
    OVERHEAD = 6


NAMED = {Kind.ENTER: Name.OPERATION, Kind.EXIT: Name.OPERATION, Kind.PHASE: Name.PHASE,
         Kind.CALL: Name.FUNCTION, Kind.CALL_BEGIN: Name.FUNCTION}  # fmt: skip


class Item(NamedTuple):
    """One item of a thread. `name` for kinds that carry a name, `number` for tasks (0 = outside
    any), iterations (1 = automatic, 2 = GPU work of the one before is missing), gaps (records
    lost), waits for room (nanoseconds), short waits (how many), segments (Auto, or NAMED_STATE and
    a name), resolves and probes (how long, in ticks: they have no part in
    time; `name` WAIT_PROBE: of a wait), `value` for progress."""

    time_ns: int
    kind: Kind
    name: str = ""
    duration_ns: int = 0
    number: int = 0
    value: float = 0.0

    @property
    def end_ns(self) -> int:
        return self.time_ns + self.duration_ns


def enter(time_ns: int, name: str) -> Item:
    return Item(time_ns, Kind.ENTER, name)


def leave(time_ns: int, name: str) -> Item:
    return Item(time_ns, Kind.EXIT, name)


def phase(time_ns: int, name: str) -> Item:
    """`name` begins; "" is no phase."""
    return Item(time_ns, Kind.PHASE, name)


def iteration(time_ns: int, *, automatic: bool = False) -> Item:
    return Item(time_ns, Kind.ITERATION, number=int(automatic))


def task(time_ns: int, number: int) -> Item:
    return Item(time_ns, Kind.TASK, number=number)


def progress(time_ns: int, done: float, total: float) -> list[Item]:
    return [
        Item(time_ns, Kind.PROGRESS_TOTAL, value=total),
        Item(time_ns, Kind.PROGRESS_DONE, value=done),
    ]


def window_start(time_ns: int) -> Item:
    return Item(time_ns, Kind.WINDOW_START)


def window_stop(time_ns: int) -> Item:
    return Item(time_ns, Kind.WINDOW_STOP)


def thread_end(time_ns: int) -> Item:
    return Item(time_ns, Kind.THREAD_END)


def gap(time_ns: int, lost: int = 1) -> Item:
    return Item(time_ns, Kind.GAP, number=lost)


def call(start_ns: int, end_ns: int, function: str) -> Item:
    """A native call with nothing recorded inside."""
    return Item(start_ns, Kind.CALL, function, end_ns - start_ns)


def call_begin(time_ns: int, function: str) -> Item:
    return Item(time_ns, Kind.CALL_BEGIN, function)


def call_end(time_ns: int) -> Item:
    return Item(time_ns, Kind.CALL_END)


def callback_begin(time_ns: int) -> Item:
    return Item(time_ns, Kind.CALLBACK_BEGIN)


def callback_end(time_ns: int) -> Item:
    return Item(time_ns, Kind.CALLBACK_END)


def segment(time_ns: int, state: Auto) -> Item:
    """The automatic track goes on in `state`."""
    return Item(time_ns, Kind.AUTO_SEGMENT, number=int(state))


def compiled(time_ns: int, name: str) -> Item:
    """The automatic track goes on in the operation `name`."""
    return Item(time_ns, Kind.AUTO_SEGMENT, name, number=NAMED_STATE)


def resolve(time_ns: int, targets: Mapping[Auto, Auto], stretch: Stretch = Stretch.KEEPS) -> Item:
    """Open segments in a state that is a key get another one; the others stay."""
    number = int(stretch) << 4 * len(OPEN_STATES)
    for place, state in enumerate(OPEN_STATES):
        number |= int(targets.get(Auto(state), Auto(state))) << 4 * place
    return Item(time_ns, Kind.AUTO_RESOLVE, number=number)


def target_of(number: int, state: Auto) -> Auto:
    """What the resolve `number` makes of an open state."""
    return Auto(number >> 4 * (state - Auto.BLOCK) & 15)


def stretch_of(number: int) -> Stretch:
    """What the resolve `number` says of a stretch."""
    return Stretch(number >> 4 * len(OPEN_STATES))


class CudaCall(NamedTuple):
    start_ns: int
    end_ns: int
    name: str = "cudaLaunchKernel"
    correlation: int = 0
    """Joins it to its GPU work; 0 to none."""
    status: int = 0
    site: int = 0
    """Number of the node of its stack; 0: not known."""


class GpuWork(NamedTuple):
    """An interval of a stream: work, or a synchronisation, which names no device (0)."""

    start_ns: int
    end_ns: int
    kind: Gpu = Gpu.KERNEL
    device: int = 0
    stream: int = 7
    context: int = 1
    correlation: int = 0
    name: str = "gemm"
    """Only kernels have one."""
    size: int = 0
    """Bytes of a copy or set."""
    how: int = 0
    """CUPTI's numbers. Copy: direction | memory << 4; set: memory; synchronisation: its type."""
    graph: int = 0


class Node(NamedTuple):
    """A line in a call of a stack."""

    parent: int
    """Number of the node of the call that made it, counted from 1; 0: none made it."""
    function: str
    """In `a.py`; empty: the trace does not say which."""
    line: int = 1


@dataclass(frozen=True)
class RawThread:
    """A thread: its items in the order of its stream, its CUDA calls in order of start."""

    items: Sequence[Item] = ()
    cuda_calls: Sequence[CudaCall] = ()
    main: bool = True
    """Whether its os_tid is the process's os_pid."""
    is_python: bool = True
    missing: tuple[int, int] | None = None
    """Which of the items, from the first to before the second, are in a chunk that was lost."""


@dataclass(frozen=True)
class RawProcess:
    """A process. Its threads are numbered from 1 in the order given."""

    end_ns: int
    start_ns: int = 0
    python_begin_ns: int | None = 0
    """When the interpreter came to know the profiler; None: no Python."""
    python_end_ns: int | None = None
    """When it was finalised; None: never, so the process ended with it."""
    threads: Sequence[RawThread] = ()
    gpu: Sequence[GpuWork] = ()
    os_pid: int = 4242
    host: str = "host"
    states: Sequence[tuple[int, frozenset[int]]] = ()
    """When the kernel was asked, in order, and the numbers of the threads that were awake."""
    nodes: Sequence[Node] = ()
    """Numbered from 1 in the order given; those of CUDA calls are the same."""
    stacks: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    """Time of a reading -> number of a thread -> number of its node."""
    socket_pairs: Sequence[tuple[int, int]] = ()
    """Inodes of the two ends of pairs that it made."""
    forked: bool = False
    inherited: Sequence[str] = ()
    """What the parent of a fork child had open, outermost first. Only a broken rule asks."""
    most_paths: int = 16_384
    function_layers: Mapping[str, str] = field(default_factory=lambda: FUNCTIONS)
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What it reported: key -> JSON."""
    role: str = ""
    """Name given with rls.process()."""
    program: str = ""
    """Its command line."""
    parent_pid: int = 0
    cpu_ns: int = 0
    profiler_cpu_ns: int = 0
    exit_flush_ns: int = 0

    def numbered(self) -> list[tuple[int, RawThread]]:
        return list(enumerate(self.threads, start=1))
