"""The measured process of the layers benchmark, under rls-prof: prints a JSON line for each round.

A round runs each block of the work once in each mode, in random order; before it is timed it runs
once untimed, so that what the switch evicted from the caches is back. Only each fourth round has
all modes, the others those that the target is about.

    plain       the functions themselves: no stub, nothing recorded
    stopped     stubs in place, not recording
    recorded    stubs in place, recording
    profiled    no stub, a profile function in C that records builtin calls (PPO only)
    wrapped     no stub, Python wrappers (PPO only, in rounds of their own)
"""

import gc
import itertools
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "extension")]

from layer_workloads import WORKLOADS, Block  # noqa: E402
from paired import time_ticks  # noqa: E402
from sample_library import import_library  # noqa: E402
from wrapped_functions import WrappedFunctions  # noqa: E402

import rlscope as rls  # noqa: E402
from rlscope import _runtime  # noqa: E402

_MODES = ["plain", "recorded"]
_WARM_UP = 80  # a stub is hot after 64 calls
# Specialised code has settled after three passes; the machine's speed wanders within 100 ms.
_WRAPPED_SETTLING, _WRAPPED_TIMED = 3, 4


class Switch:
    """Puts this process into one of the modes."""

    def __init__(self, libraries: dict[str, ModuleType], blocks: list[Block]) -> None:
        self._pointers = libraries["pointer_switch"]
        self._profile = libraries["profile_function"].profile
        warm_up(blocks)
        self._kept = all_objects()
        self._learn_pointers(blocks)
        self._modes: dict[str, Callable[[], None]] = {
            "plain": lambda: self._pointers.put(False),
            "stopped": lambda: self._pointers.put(True),
            "recorded": self._record,
            "profiled": lambda: self._pointers.put(False),
        }

    def enter(self, mode: str) -> None:
        self._modes[mode]()
        self._profile(mode == "profiled")

    def leave(self) -> None:
        self._profile(False)
        rls.stop()

    def _learn_pointers(self, blocks: list[Block]) -> None:
        self._pointers.find(self._kept, *text_of_stubs())
        _runtime.intercept_unpatch()
        self._pointers.learn(False)
        _runtime.intercept_scan()
        warm_up(blocks)
        rls.stop()
        if not self._pointers.learn(True):
            raise RuntimeError("found no pointer to switch")

    def _record(self) -> None:
        self._pointers.put(True)
        rls.start()


def warm_up(blocks: list[Block]) -> None:
    for _ in range(_WARM_UP):
        for block in blocks:
            block.prepare()
            block.run()


def all_objects() -> list[object]:
    """What the collector knows, the types, of which it does not know the static ones, and what the
    namespaces of modules and types hold beside: NumPy's ufuncs are none of the collector's."""
    types: dict[type, None] = {}
    new: list[type] = [object]
    while new:
        types |= dict.fromkeys(new)
        new = [below for each in new for below in type.__subclasses__(each) if below not in types]
    spaces = [vars(module) for module in list(sys.modules.values()) if type(module) is ModuleType]
    held = [value for space in [*spaces, *map(vars, types)] for value in list(space.values())]
    return [*gc.get_objects(), *types, *(value for value in held if not gc.is_tracked(value))]


def text_of_stubs() -> tuple[int, int]:
    """Where the code of _runtime lies."""
    name = Path(_runtime.__file__).name
    lines = [line for line in Path("/proc/self/maps").read_text().splitlines() if name in line]
    low, high = next(line for line in lines if "r-xp" in line).split()[0].split("-")
    return int(low, 16), int(high, 16)


def time_block(block: Block) -> int:
    """CPU time of this thread, in ns, the second time the block runs."""
    block.prepare()
    block.run()
    block.prepare()
    begun = time.thread_time_ns()
    block.run()
    return time.thread_time_ns() - begun


def time_work(blocks: list[Block]) -> int:
    return sum(block.times * time_block(block) for block in blocks)


def one_round(switch: Switch, blocks: list[Block], modes: list[str]) -> dict[str, float]:
    """Mode -> ns of the whole work, and how many records it wrote."""
    found = dict.fromkeys([*modes, "records"], 0.0)
    gc.collect(1)
    for block in blocks:
        for mode in random.sample(modes, len(modes)):
            switch.enter(mode)
            slots = _runtime.thread_slots()
            found[mode] += block.times * time_block(block)
            if mode == "recorded":
                found["records"] += block.times * (_runtime.thread_slots() - slots) / 2
            switch.leave()
    return found


def take_turns(name: str, seconds: float, libraries: dict[str, ModuleType]) -> None:
    blocks = WORKLOADS[name].make()
    switch = Switch(libraries, blocks)
    gc.collect()
    gc.freeze()  # what follows is collected between the rounds, and nothing else looked at
    gc.disable()
    others = ["stopped", *(["profiled"] if name == "ppo" else [])]
    deadline = time.monotonic() + seconds
    for modes in itertools.cycle([_MODES, _MODES, _MODES, _MODES + others]):
        if time.monotonic() > deadline:
            break
        found = one_round(switch, blocks, modes)
        print(json.dumps({**found, "r": time_ticks(libraries["ticks"])}), flush=True)
    if name == "ppo":
        switch.enter("plain")
        take_wrapped_turns(blocks, seconds)


def take_wrapped_turns(blocks: list[Block], seconds: float) -> None:
    """Replacing attributes undoes what the interpreter has specialised: a turn is longer, and comes
    after all others."""
    functions = WrappedFunctions()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = {}
        for mode in random.sample(["plain", "wrapped"], 2):
            functions.put(mode == "wrapped")
            for _ in range(_WRAPPED_SETTLING):
                time_work(blocks)
            found[mode] = sum(time_work(blocks) for _ in range(_WRAPPED_TIMED))
        functions.put(False)
        print(json.dumps(found), flush=True)


def main() -> None:
    name, seconds, *paths = sys.argv[1:]
    libraries = [import_library(Path(path)) for path in paths]
    take_turns(name, float(seconds), {library.__name__: library for library in libraries})


if __name__ == "__main__":
    main()
