"""Programs with environments that have no physics, and what automatic operations made of them."""

from __future__ import annotations

from support.process.automatic_records import instances, read_track
from support.process.recorded_child import ITERATION, Recorded

ENVIRONMENT = """
import sys
import rlscope.auto
rlscope.auto.begin()
assert "gymnasium" not in sys.modules
import gymnasium
import rlscope as rls
from rlscope.recorder import runtime

class Env(gymnasium.Env):
    def step(self, action):
        return 0, 0.0, False, False, {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

class Wrapper(gymnasium.Wrapper):
    def step(self, action):
        self.env.step(action)
        return self.env.step(action)

forward = runtime.watch("forward", lambda: None)
backward = runtime.watch("backward", lambda: None)
optimize = runtime.watch("step", lambda: None)
env = Wrapper(Env())
"""


def track(recorded: Recorded, process: int = 0, thread: int | None = None) -> list[str]:
    """Names of the automatic operations of a thread, instance by instance."""
    return _instances(recorded, process, thread, {})


def names(recorded: Recorded, thread: int | None = None, process: int = 0) -> list[str]:
    """The same, with those that name themselves."""
    return _instances(recorded, process, thread, recorded.names(process))


def _instances(
    recorded: Recorded, process: int, thread: int | None, names: dict[int, str]
) -> list[str]:
    row = recorded.process(process)
    if not recorded.threads(process):
        return []
    number = recorded.threads(process)[0] if thread is None else thread
    items = recorded.reader.items(row["index"], number)
    rows = list(zip(items["time_ns"], items["kind"], items["id"], strict=True))
    return [name for name, _, _ in instances(read_track(rows, row["end_ns"], names))]


def iterations(recorded: Recorded, process: int = 0) -> list[int]:
    """Iterations of a process in order, 1 for each automatic one, 0 for each explicit one."""
    index = recorded.process(process)["index"]
    found: list[tuple[int, int]] = []
    for thread in recorded.threads(process):
        items = recorded.reader.items(index, thread)
        is_one = items["kind"] == ITERATION
        found += zip(items["time_ns"][is_one], items["id"][is_one], strict=True)
    return [int(id_) for _, id_ in sorted(found)]
