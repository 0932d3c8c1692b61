"""What `import rlscope` offers and does not import: every traced process pays for that import.

These are ordinary functions and an ordinary object. A module's own __getattr__ (PEP 562) would be
shorter, but CPython does not specialise attribute loads on a module that has one: with it,
`rls.operation(...)` costs 50 ns more, on every call.
"""

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from rlscope.record.profile import Profile
    from rlscope.relations.trace import Trace
    from rlscope.relations.traces import Traces

    _Class = TypeVar("_Class")


class LazyModule:
    """Stands for a submodule of rlscope until something is read from it."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> object:
        return getattr(_import_now(self.__name__), name)

    def __dir__(self) -> list[str]:
        return dir(_import_now(self.__name__))

    def __repr__(self) -> str:
        return f"<module {self.__name__!r}, imported at first use>"


def environment(owner: "type[_Class]") -> "type[_Class]":
    """Counts steps and resets of a class as simulation, where the program annotates no operation.

        @rls.environment
        class Market:
            def reset(self): ...
            def step(self, action): ...

    Classes below it count, too. rlscope knows the environments of common libraries, and finds most
    others by itself once they have stepped a few times.

    Args:
        owner: the class, which is returned.

    Raises:
        TypeError: owner is not a class.
    """
    if not isinstance(owner, type):
        raise TypeError(f"an environment must be a class, not {type(owner).__name__}")
    _import_now("rlscope.auto.own_environments").watch_class(owner)
    return owner


def load(
    path: "str | os.PathLike[str]",
    *,
    unrestricted: bool = False,
    progress: "Callable[[float], None] | None" = None,
) -> "Trace":
    """Opens the trace directory of a run, which may still be going.

        trace = rls.load("rlscope_out/train-1")
        rls.analysis.breakdown(trace, by=["operation", "layer"])

    Args:
        path: the directory. It may come from a stranger.
        unrestricted: let SQL statements read and write any file. Without it they read the
            relations and nothing else.
        progress: called a few times a second while tables are made, from a thread of its own, with
            the part that is done, 0 to 1.

    Raises:
        TraceError: not a trace directory, or nothing in it can be read.
    """
    trace: Trace = _import_now("rlscope.opening").load(
        path, unrestricted=unrestricted, progress=progress
    )
    return trace


def load_many(
    paths: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]",
    *,
    unrestricted: bool = False,
) -> "Traces":
    """Opens several runs at once, so that one SQL statement reads them all.

        runs = rls.load_many("runs")
        runs.sql("SELECT run_id, sum(duration_ns) AS ns FROM breakdown GROUP BY run_id")

    Every relation has a column `run_id` in front; relation `run` has a row for each run.

    Args:
        paths: the directories; or one folder, of which every run below it is opened.
        unrestricted: as for `load`.

    Raises:
        TraceError: there is none, one is no trace or cannot be read, or two are of one run.
    """
    traces: Traces = _import_now("rlscope.opening").load_many(paths, unrestricted=unrestricted)
    return traces


def profile(
    directory: "str | os.PathLike[str]", *, name: str = "", force: bool = False
) -> "Profile":
    """Records this process while a block runs, with everything it spawns, into `directory`.

    For programs and notebooks that are not started by rls-prof:

        with rls.profile("runs/ppo"):
            train()
        trace = rls.load("runs/ppo")

    While the block runs, RLSCOPE_DIR, LD_PRELOAD and (if unset) CUDA_INJECTION64_PATH are set in
    os.environ, so that worker processes are recorded too; afterwards they are as before. Under
    rls-prof the block is a window of that trace: it starts recording if that was stopped, and
    stops it again; `directory` is ignored, and one line on stderr says so. Where the recorder
    cannot be loaded one line on stderr says why, and the block runs unrecorded.

    Args:
        directory: made if it does not exist.
        name: of the run; the last part of `directory` if empty.
        force: replace the run that `directory` holds. Refused while a process of it lives.

    Raises:
        DirectoryInUse: on entry, when `directory` holds a run and `force` is not set.
        RecordingError: on entry, when recording cannot begin there.
    """
    from rlscope.record.profile import Profile

    return Profile(directory, name=name, force=force)


def _import_now(name: str) -> "Any":
    from importlib import import_module  # the first import costs 1 ms: warnings

    return import_module(name)
