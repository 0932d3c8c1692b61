"""Online half of the C++ core: annotations and the drainer. Holds no state of its own.

Links to librlscope.so beside it, the one holder of process state.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

class Operation:
    """One operation by name: context manager and decorator in one object, re-enterable."""

    @property
    def name(self) -> str: ...
    def __enter__(self) -> Operation: ...
    def __exit__(self, *exc: object) -> None: ...
    def __call__(self, function: Callable[_P, _R], /) -> Callable[_P, _R]: ...

def operation(name: str, /) -> Operation: ...
def annotate_calls(operation: Operation, function: Callable[_P, _R], /) -> Callable[_P, _R]:
    """The function, each call of it inside the operation; it keeps its name and signature."""

def set_operation(name: str, /) -> None: ...
def end_operation(name: str, /) -> None: ...
def begin_phase(name: str | None, /) -> str | None:
    """Begins a phase (None: no phase); returns the name of the one before."""

def iteration(automatic: bool = False, /) -> bool:
    """Begins an iteration; True when the program should end at this boundary."""

def follow_iterations(function: Callable[[], object] | None, /) -> None:
    """From now on calls the function when an iteration of this process has begun, automatic ones
    included, in the thread that counts them. What it raises comes from that call, or right behind
    it. None: no more."""

def hold(held: bool, /) -> None:
    """Keeps this process from recording, whatever its windows are, until hold(False)."""

def time_operations(timed: bool, /) -> None:
    """Whether annotations run a stopwatch while hold(True) keeps this process from recording: an
    enter or exit adds the time since the one before to the operation that was innermost on the
    thread. It begins anew, with no operation open."""

def take_operation_times() -> (
    tuple[float, list[tuple[bool, tuple[str, ...], float, int, int]]] | None
):
    """What the stopwatch has added up since it began, or since the last call; it goes on from zero.

    First the time in which it did its own work, in nanoseconds, which is in no operation. Then for
    each thread and path: whether it is the calling thread; the names of the path; nanoseconds;
    entries; half events, which are two for each enter or exit, one before it and one behind it.
    None: operations were entered in asyncio tasks, or there were too many paths."""

def raise_in_thread(identifier: int, exception: type[BaseException], /) -> None:
    """Raises an exception in another Python thread, at its next bytecode."""

def process_name(name: str, /) -> None: ...
def begin_thread() -> None: ...
def metadata(key: str, json: str, /) -> None: ...
def progress(done: float, total: float, /) -> None: ...
def pause_cuda() -> None:
    """Leaves CUPTI to another profiler of this process, until resume_cuda()."""

def resume_cuda() -> None: ...
def has_cuda() -> bool:
    """Whether CUPTI is ours in this process."""

def switch_cuda(calls: bool, work: bool, /) -> bool:
    """CUPTI makes callbacks of calls and activity records of work from now on, or not: to measure
    what each costs. Callbacks are to be switched while nothing is recorded. Launches of graphs
    leave records in any case. False: CUPTI is not ours, and nothing was done."""

def turn_gpu(recorded: bool, /) -> int:
    """GPU work is to be recorded from this begin of an iteration on, or not (--gpu-share). 0: there
    are no windows; 1: it is recorded; 2: CUPTI is still at work, and no window can begin; 3: it is
    not recorded."""

def keep_cupti(kept: bool, /) -> None:
    """Whether another profiler of this process is at work, to which CUPTI is not left: windows
    neither attach nor end CUPTI meanwhile."""

def gpu_launches() -> int:
    """How many launches this process has records of so far, up to 200 ms late."""

def has_traced_graphs() -> bool:
    """Whether it has CUDA graphs of which each launch is one piece of GPU work: then no window of
    GPU work may end."""

def start() -> None: ...
def stop() -> None: ...
def is_recording() -> bool: ...
def windows() -> int:
    """How often this process has begun to record, or to run the stopwatch, after it did not."""

def state() -> str:
    """ "unknown", "recording", "paused", "timed" or "off"."""

def python_begin(version: str, executable: str, /) -> None: ...
def python_end() -> None: ...
def profile_begin(directory: str, /) -> None:
    """Raises OSError with the reason when the directory cannot be used."""

def profile_end() -> None: ...
def thread_slots() -> int: ...
def note_collection(phase: str, info: dict[str, int], /) -> None:
    """An entry of gc.callbacks: a collection of at least 5 us is a call of layer python."""

def watch(event: str, function: Callable[_P, _R], /) -> Callable[_P, _R]:
    """What may take the place of the function: calls of it are events of automatic operations.

    Events: "simulation", "mixin" (simulation, if called on an object that watch_mixins() knows),
    "forward", "backward", "step", "block enter", "block exit", "mode enter", "compiled" (whose
    first argument is the compiled function), "compile" (which returns a function of
    torch.compile), "traces module", "compilation" (and "compilation enter", "exit", "pause"),
    "connector" (a conversion, whatever it is called with), "own step", "own reset" (a simulation,
    once find_environments() has found its class), "message out", "message in" (a simulation,
    once the thread is found to exchange messages with environments), "messages end",
    "evaluation", "update", "generation", "replay", "saving", "loading" and "import". Raises
    ValueError for any other, TypeError before watch_imports().
    """

def watch_in_place(event: str, function: object, /) -> bool:
    """The same for a plain Python function that stays what it is; False: it is none, or changed.

    CPython 3.11 reports only those calls that come from C or pass their arguments as *args.
    A "conversion" may also be a builtin function, a method or a type of C code.
    """

def watch_mixins(root: type, /) -> bool:
    """A "mixin" called on an object of this class is a simulation; False: there are too many."""

def find_environments(
    finder: Callable[[], object],
    found: Callable[[type | None], object],
    is_transition: Callable[[object], bool],
    /,
) -> None:
    """Calls `finder` before the first forward of a process that has no environment then.

    Calls `found` with a class whose calls of events "own step" show that it is one. From then on
    they are simulations. `found` is called with None once messages are. Before the first forward,
    `is_transition` of what these calls return decides. Only the first call counts.
    """

def watch_compiled(function: object, /) -> bool:
    """Makes calls of an object with a vectorcall pointer of its own, as JAX's compiled functions
    have, events "compiled"; False: it has none."""

def watch_waiting(function: object, /) -> bool:
    """The same for one that waits for a result of a compiled function: its first argument, or what
    is in that. A call is one of the function. Of a type it is the buffer of an object."""

def watch_classes(
    words: tuple[str, ...], methods: tuple[str, ...], handler: Callable[[type], object], /
) -> bool:
    """From now on handler(made) is called for each class that a class statement makes, if its name,
    or that of a class above it, has one of the words in it, in any case, or if it has all of the
    methods. What the handler raises is dropped.

    Only the first call counts. False: class statements cannot be seen, or in a sub-interpreter.
    """

def watch_imports(
    handlers: Mapping[str, Callable[[Any], object] | tuple[Callable[[Any], object]] | None],
    function: Callable[..., Any],
    /,
) -> bool:
    """Events may begin: from now on an "import" asks `handlers`, a dict, by the name of the module.
    Imports count as operations from the first one on that has a handler, or None; not from one
    whose handler is in a tuple.

    `function` is any Python function that was not changed. False in a sub-interpreter.
    """

def has_learned() -> bool:
    """Whether an optimizer has made a step in this process, or what it was forked from."""

def called_networks() -> int:
    """How many outermost forwards this process has made, with those of what it was forked from."""

def count_tokens(count: Callable[..., int], /) -> None:
    """`count(result, *args, **kwargs)` tells the tokens of a call of a library's generation."""

def written_tokens() -> tuple[int, int]:
    """Tokens that this process wrote, and in how many generations."""

def returned_rewards() -> tuple[int, int]:
    """How many of the process's first 256 steps returned one reward, of the environment of the
    first one, and how many others did."""

def given_precisions() -> tuple[int, int]:
    """How many of the first 256 recorded outermost forwards were given numbers of double
    precision, and how many others."""

def ask_gradients(path: str, /) -> bool:
    """Lets forwards ask the libc10.so that is loaded from `path`; False: it cannot be asked."""

def intercept_at_import(
    loaded: Callable[[Any], None] | None, scanned: Callable[[], None] | None, patching: bool, /
) -> None:
    """From now on `loaded(spec)` runs when native code was loaded, by importlib from `spec` or by
    ctypes (None), and `scanned()` once its functions are patched; patching False: they are not.

    Raises RuntimeError where patching is refused, or importlib is not as expected.
    """

def intercept_executed(names: frozenset[str], function: Callable[[ModuleType], None], /) -> None:
    """Calls function(module) when an extension module of one of these names, built in or loaded,
    has been executed, until intercept_unpatch()."""

def intercept_wait(function: object, name: str, kind: str, object: str, opens: bool, /) -> bool:
    """Records long calls of a builtin function or method descriptor as waits; see
    rlscope/capture/wait.py. False: it cannot be patched. A Cython function can, where `object`
    is ""."""

def intercept_serializer(function: object, name: str, /) -> bool:
    """Makes calls of a builtin function or method native calls of layer python, once an operation
    was entered. Native calls that it makes inside are the program's."""

def intercept_name(function: object, name: str, /) -> bool:
    """Records calls of a function that its library made at run time under this name,
    "module:function". False: it is not patched."""

def callback_begin() -> bytes | None:
    """Inside a recorded call the thread is in Python from now on, until callback_end() with the
    result; None outside of recorded calls."""

def callback_end(kept: bytes | None, /) -> None: ...
def intercept_gil() -> bool:
    """Records how long threads wait for the GIL; False: the interpreter is not as expected."""

def intercept_greenlets(module: ModuleType, /) -> bool:
    """Gives each greenlet operations of its own, from its switches on; `module` is
    greenlet._greenlet. False: it is not as expected, and greenlets differ at annotations only."""

def intercept_probe() -> bool:
    """Patches recorded_call(), until intercept_unpatch(); False: it cannot be patched."""

def plain_call() -> None:
    """Does nothing."""

def recorded_call() -> None:
    """The same in the same C function; after intercept_probe() a native call."""

def intercept_watch(pattern: str, layer: str, /) -> None:
    """Watches every shared object, loaded now or later, whose real path matches the glob, in which
    "*" matches "/" too. The last pattern decides."""

def intercept_scan() -> dict[str, int]:
    """Patches everything watched that is reachable now; intercept_counts()."""

def intercept_remember() -> None:
    """Remembers the stubs of classes too, which stay alive from now on: 10 ms with PyTorch."""

def intercept_switch(in_force: bool, /) -> None:
    """Takes the stubs of all pointers that are remembered out for a while, or puts them back, in
    some 300 us. Functions that were made at run time keep theirs."""

def intercept_unpatch() -> dict[str, int]:
    """Puts every pointer back: remembered, and reached by a scan."""

def intercept_counts() -> dict[str, int]: ...
def intercept_supported() -> str | None:
    """Why nothing can be patched in this interpreter, in one sentence; None if it can."""

def monitoring_begin() -> str | None:
    """Records native calls by sys.monitoring; or returns one sentence that says why it cannot."""

def monitoring_refresh() -> None:
    """Listens for the watched libraries that were loaded since; for none it does not listen."""

def monitoring_end() -> None: ...
def monitoring_counts() -> dict[str, int]:
    """calls (recorded), sites (of watched calls), switched_off (times a site was), unpaired (calls
    whose return was not seen)."""

def process_records(data: bytes, /) -> tuple[list[bytes], int]:
    """The intact records of processes.log in `data`, each 128 bytes, and how many bytes of it need
    no second look when the log has grown."""

class Drainer:
    """Drains the rings of every process of a run into trace files, from the wrapper's process.

    start() creates DIR/rings/control and begins a thread (GIL-free C++); stop() drains what is
    left of processes that ended, and ends the thread. Counters are for the wrapper's summary.
    """

    def __init__(self, directory: str, rings: str | None = None) -> None: ...
    def start(
        self,
        *,
        recording: bool = True,
        delay_iterations: int = 0,
        iterations: int = 0,
        exit_after: int = 0,
        min_free_bytes: int = 1 << 30,
        max_bytes: int = 0,
        stacks: bool = True,
    ) -> None: ...
    def set_recording(self, on: bool) -> None: ...
    def end_program(self) -> None:
        """Ends the program at its next iteration, as `exit_after` does."""
    def begin_next_files(self) -> None:
        """Soon writes all that is recorded by then and closes the files, of every process that the
        drainer serves; stats()["flushed_ns"] says when it did."""

    def set_kept_bytes(self, kept: int, /) -> None:
        """Bytes of what was set aside of the run, in files that the drainer does not count: they
        are part of `max_bytes`, too."""

    def take_source_files(self) -> list[str]:
        """Some files of functions that threads were found in, each once; none: there are no more
        for now."""

    def note_in(self, directory: str, /) -> None:
        """Notes in another run, to which this process belongs, that it records this one."""

    def stop(self) -> None: ...
    def alive(self) -> list[dict[str, Any]]:
        """Processes of the run that still run: {"pid", "name"}."""

    def stats(self) -> dict[str, int]:
        """events, bytes, removed (events written to files that were then removed), chunks, lost,
        rings, cpu_ns (of the drainer's thread), cut (why recording was cut short, rlscope/cuts.py;
        0: it was not), cut_ns (when), flushed_ns (begin_next_files: all of before is in files),
        helped (processes that drain themselves, of which that is not so), gone_pages (of files in
        DIR/rings that were cut short), stalls (its own stores beside the rings that waited for the
        disk for over 1 ms) and longest_stall_ns."""
