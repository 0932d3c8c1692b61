"""Online half of the C++ core: annotations and the drainer. Holds no state of its own.

Links to librlscope.so beside it, the one holder of process state.
"""

from collections.abc import Callable
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

def raise_in_thread(identifier: int, exception: type[BaseException], /) -> None:
    """Raises an exception in another Python thread, at its next bytecode."""

def process_name(name: str, /) -> None: ...
def metadata(key: str, json: str, /) -> None: ...
def progress(done: float, total: float, /) -> None: ...
def start() -> None: ...
def stop() -> None: ...
def is_recording() -> bool: ...
def state() -> str:
    """ "unknown", "recording", "paused" or "off"."""

def python_begin(version: str, executable: str, /) -> None: ...
def python_end() -> None: ...
def profile_begin(directory: str, /) -> None:
    """Raises OSError with the reason when the directory cannot be used."""

def profile_end() -> None: ...
def thread_slots() -> int: ...

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
    ) -> None: ...
    def set_recording(self, on: bool) -> None: ...
    def stop(self) -> None: ...
    def alive(self) -> list[dict[str, Any]]:
        """Processes of the run that still run: {"pid", "name"}."""

    def stats(self) -> dict[str, int]:
        """events, bytes, chunks, lost, rings, cpu_ns (of the drainer's thread), disk_full."""
