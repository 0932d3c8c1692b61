"""What automatic operations add to one call, in units of R (one rdtsc in a tight loop of the same
run), by thread CPU time, interleaved, medians.

    python tests/benchmarks/automatic_calls.py [--rounds N] [--output FILE]

Each case times a call that is watched against the same call that is not, while the process records:

    step          an environment's step, outermost: begin and end are recorded
    wrapped step  four wrappers around one environment: the inner ones are only counted
    forward       a module without work, outermost
    child module  modules inside it
    block         a no-grad block around a forward
    backward      the function that all of PyTorch's backwards call
    optimizer     the step of an optimizer
"""

import argparse
import gc
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "extension"), str(HERE.parent.parent)]

from paired import median_interval, show_verdicts, time_ticks, verdict, write_result  # noqa: E402
from sample_library import compile_extension, import_library  # noqa: E402

TARGET_R = 3.5
REPEATS = 1000


def environment(watch: Callable[..., Any]) -> Any:
    class Env:
        def step(self, action: int) -> int:
            return action

    class Wrapper:
        def __init__(self, env: Any) -> None:
            self.env = env

        def step(self, action: int) -> Any:
            return self.env.step(action)

    for owner in (Env, Wrapper):
        watch("simulation", owner, "step")
    return Env(), Wrapper(Wrapper(Wrapper(Wrapper(Env()))))


def module(watch: Callable[..., Any]) -> tuple[Any, Any]:
    """A module as PyTorch calls one: through the slot of its type."""

    class Module:
        def __call__(self, *args: Any, **kwargs: Any) -> None:
            return None

    class Parent(Module):
        def __init__(self) -> None:
            self.children = (Module(), Module(), Module(), Module())

        def forward(self) -> None:
            for child in self.children:
                child()

    class Outer:
        def __init__(self) -> None:
            self.parent = Parent()

        def __call__(self) -> None:
            self.parent.forward()

    for owner in (Module, Outer):
        watch("forward", owner, "__call__")
    return Module(), Outer()


def block(watch: Callable[..., Any]) -> Any:
    class Block:
        def __enter__(self) -> None:
            return None

        def __exit__(self, *exc: object) -> None:
            return None

    watch("block enter", Block, "__enter__")
    watch("block exit", Block, "__exit__")
    return Block()


def plain(event: str, watched: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any) -> None:
        return None

    return watched(event, function)


CASES = {
    "step": ("env.step(1)", 1),
    "wrapped step": ("wrapper.step(1)", 5),
    "forward": ("module()", 1),
    "child module": ("outer()", 5),
    "block": ("\n        with block: module()", 2),
    "backward": ("backward()", 1),
    "optimizer": ("optimizer()", 1),
}
"""The statement of each case, and how many watched calls it makes."""


def names(recording: bool) -> dict[str, Any]:
    from rlscope.auto.calls import watch_from_c, watch_method, watched

    def nothing(*_: object) -> None:
        return None

    env, wrapper = environment(watch_method if recording else nothing)
    small, outer = module(watch_from_c if recording else nothing)
    same: Callable[..., Any] = watched if recording else lambda _, function: function
    return {
        "env": env,
        "wrapper": wrapper,
        "module": small,
        "outer": outer,
        "block": block(watch_from_c if recording else nothing),
        "backward": plain("backward", same),
        "optimizer": plain("step", same),
        "clock": time.thread_time_ns,
    }


def make_timer(statement: str, namespace: dict[str, Any]) -> Callable[[], float]:
    source = (
        "def timer():\n"
        "    begin = clock()\n"
        f"    for _ in range({REPEATS}):\n"
        f"        {statement.strip()}\n"
        f"    return (clock() - begin) / {REPEATS}\n"
    )
    exec(source, namespace)
    timer: Callable[[], float] = namespace.pop("timer")
    return timer


def measure(rounds: int) -> dict[str, Any]:
    """Added nanoseconds and R, for each case."""
    import rlscope as rls
    from rlscope import auto

    with tempfile.TemporaryDirectory(prefix="rlscope-bench-") as folder:
        ticks = import_library(
            compile_extension("ticks", [HERE / "ticks_module.c"], Path(folder, "ticks"))
        )
        with rls.profile(Path(folder, "run")):
            auto.begin()
            watched, unwatched = names(True), names(False)
            timers = {
                name: (make_timer(text, watched), make_timer(text, unwatched))
                for name, (text, _) in CASES.items()
            }
            return sample(timers, ticks, rounds)


def sample(timers: dict[str, Any], ticks: ModuleType, rounds: int) -> dict[str, Any]:
    added: dict[str, list[float]] = {name: [] for name in timers}
    costs = []
    order = list(timers)
    gc.disable()
    for number in range(-2, rounds):  # two rounds to warm up
        random.shuffle(order)
        costs.append(time_ticks(ticks))
        for name in order:
            first, second = timers[name]
            difference = first() - second()
            if number >= 0:
                added[name].append(difference)
    gc.enable()
    return {"r_ns": statistics.median(costs), "added_ns": added}


def verdicts(samples: dict[str, Any]) -> list[dict[str, Any]]:
    """Each target beside what was measured."""
    rows = []
    for name, values in samples["added_ns"].items():
        calls = CASES[name][1]
        in_r = median_interval([value / samples["r_ns"] / calls for value in values])
        row = verdict(f"{name}, added to a call", "R", TARGET_R, in_r)
        rows.append({**row, "added_ns": round(statistics.median(values) / calls, 1)})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--output", default="build/benchmarks/automatic_calls.json")
    options = parser.parse_args()
    samples = measure(options.rounds)
    rows = verdicts(samples)
    print(f"R = {samples['r_ns']:.1f} ns")
    write_result(options.output, {"r_ns": samples["r_ns"], "targets": rows})
    return show_verdicts(rows)


if __name__ == "__main__":
    sys.exit(main())
