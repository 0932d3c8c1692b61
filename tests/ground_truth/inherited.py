"""The brute-force twin: what only a broken rule lets a new thread or a fork child begin with."""

from __future__ import annotations

from ground_truth.relations import NONE
from ground_truth.state import Open, State, ThreadState

PHASE_OF_PARENT = "learn"


def inherit_from_parent(state: State) -> None:
    """A fork child begins; by the rules with nothing."""
    process = state.streams.process
    if state.rules.phase_of_fork_child == "its parent's" and process.forked:
        state.phase = PHASE_OF_PARENT
    if state.rules.fork_child == "starts empty":
        return
    for thread in state.threads[:1]:
        for depth, name in enumerate(process.inherited, start=1):
            path = tuple(process.inherited[:depth])
            thread.stack(0).append(Open(name, path, state.streams.start_ns, -depth, NONE))


def inherit_from_main_thread(state: State, thread: ThreadState) -> None:
    """A thread records something; the first time it could take over what the main thread has."""
    begins, thread.begun = not thread.begun, True
    if begins and state.rules.new_thread != "starts empty":
        main = [each for each in state.threads if each.stream.is_main and each is not thread]
        thread.stacks = {0: [opened for each in main for opened in each.stack(0)]}
