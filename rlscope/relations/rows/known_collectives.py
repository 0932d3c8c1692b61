"""Native calls in which a process meets the others of its group. One library is one row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meeting:
    """Calls that cannot end before every process of the group has begun its own."""

    name: str
    function: str
    """As relation native_call names it."""
    after: str = ""
    """A call counts only if this one was made since the call before; empty: every call counts."""


KNOWN = (
    Meeting(
        "backward",
        "torch._C:_EngineBase.run_backward",
        after="torch._C._distributed_c10d:Reducer.prepare_for_backward",
    ),
    Meeting("collective", "torch._C._distributed_c10d:Work.wait"),
    Meeting("broadcast", "torch._C._distributed_c10d:_broadcast_coalesced"),
)

FUNCTIONS = frozenset(
    function for each in KNOWN for function in (each.function, each.after) if function
)
