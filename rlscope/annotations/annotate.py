"""Annotations: a program's own description of its algorithm.

Every function here may be called from any thread, costs next to nothing while the process is not
recorded, and raises the same errors whether it is or not.
"""

from os import getpid

from rlscope.annotations import torch_compile
from rlscope.capture import native as native_calls
from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from types import TracebackType

__all__ = [
    "end_operation",
    "iteration",
    "layer",
    "metadata",
    "operation",
    "phase",
    "process",
    "progress",
    "set_operation",
    "start",
    "stop",
]

# Straight from the extension: a Python function in between would double their price.
operation = runtime.operation
set_operation = runtime.set_operation
end_operation = runtime.end_operation


class phase:
    """A long stage of the process, such as data_collection, training or evaluation.

        with rls.phase("training"):
            update(policy, batch)

    A process is in one phase at a time, whichever thread begins it: the block replaces the current
    phase and brings it back at its end. Phases do not nest; operations are split where the phase
    changes.

    Raises:
        TypeError: name is not a str.
    """

    __slots__ = ("_before", "name")

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name of a phase must be str, not {type(name).__name__}")
        self.name = name
        self._before: list[tuple[int, str | None]] = []

    def __enter__(self) -> "phase":
        self._before.append((getpid(), runtime.begin_phase(self.name)))
        return self

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        traceback: "TracebackType | None",
    ) -> None:
        process_id, before = self._before.pop()
        # A fork child that leaves a block of its parent was never in that phase.
        if process_id == getpid():
            runtime.begin_phase(before)


def process(name: str) -> None:
    """Names this process, such as "learner" or "worker_3": its name in every table.

    Raises:
        TypeError: name is not a str.
    """
    runtime.process_name(name)


def iteration() -> None:
    """Begins the next iteration of the training loop, and ends the one before.

        for update in range(updates):
            rls.iteration()
            ...

    The first thread that calls it owns the count; calls of other threads are ignored and counted.
    Under `rls-prof --exit-after-iterations N` the call that would begin iteration N + 1 ends the
    program: it raises SystemExit(0), in the main thread too when another thread called.
    """
    if runtime.iteration():
        end_program()


def metadata(**values: object) -> None:
    """Stores facts about this process by key, such as the hyperparameters of the run.

        rls.metadata(seed=1, env="CartPole-v1", lr=3e-4)

    Values are JSON; arrays and NumPy scalars become lists and numbers, anything else its str().
    A later value of a key replaces an earlier one.
    """
    if runtime.state() == "off":
        return
    for key, value in values.items():
        runtime.metadata(key, _to_json(value))


def progress(done: float, total: float) -> None:
    """Reports how much of the whole run is done, in any unit, such as environment steps.

    The report extrapolates the whole run from it:

        rls.progress(global_step, args.total_timesteps)

    Raises:
        TypeError: done or total is not a number.
    """
    runtime.progress(done, total)


def layer(layer: str, *, module: str) -> None:
    """Counts the native code of a module as a layer: "simulator" or "framework".

        rls.layer("simulator", module="mysim")

    The module is an extension module, or a package with extension modules in its folder; it may be
    imported before or after. Calls into it are recorded from here on as those of the libraries that
    rlscope knows. Its Python code stays layer python.

    Raises:
        TypeError: module is not a str.
        ValueError: there is no such layer to put a library in.
    """
    from rlscope.capture.library import LAYERS  # not before a program names one

    if not isinstance(module, str):
        raise TypeError(f"module of a layer must be str, not {type(module).__name__}")
    if layer not in LAYERS:
        raise ValueError(f"a library is layer simulator or framework, not {layer!r}")
    native_calls.layer(layer, module)


def start() -> None:
    """Starts recording this process, if that was stopped. Calls do not add up.

    Operations entered earlier are not in the window that begins.
    """
    runtime.start()


def stop() -> None:
    """Stops recording this process until start(). Open operations end here."""
    runtime.stop()


# The bootstrap comes here before the program's first line, a program without it at its import.
native_calls.begin()
torch_compile.prepare(phase)
native_calls.after_watching(lambda: torch_compile.prepare(phase))


def end_program() -> None:
    """Ends the program where --exit-after-iterations asks for it, here and in the main thread:
    in any other thread SystemExit ends just that thread."""
    import threading

    main = threading.main_thread()
    if main is not threading.current_thread() and main.ident is not None:
        runtime.raise_in_thread(main.ident, SystemExit)
    raise SystemExit(0)


def _to_json(value: object) -> str:
    """JSON text of any value: metadata must not end a program."""
    import json

    try:
        return json.dumps(value, default=_simplify, allow_nan=False)
    except Exception:  # NaN, a cycle, keys that are no text, a broken __str__
        return json.dumps(_describe(value))


def _simplify(value: object) -> object:
    to_list = getattr(value, "tolist", None)
    return to_list() if callable(to_list) else str(value)


def _describe(value: object) -> str:
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
