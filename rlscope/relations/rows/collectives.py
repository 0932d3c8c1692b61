"""The rows of the relation `collective`: who waits for the latest of a group, and who that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlscope.relations.rows.known_collectives import KNOWN, Meeting

COLUMNS = (
    "process_id", "name", "calls", "meetings", "duration_ns", "waited_ns", "last", "late_ns",
)  # fmt: skip


class Call(NamedTuple):
    """A native call, as the relation `event` has it."""

    function: str
    start_ns: int
    duration_ns: int


class Collectives:
    """Calls of all processes, gathered until every process is known."""

    def __init__(self) -> None:
        self._groups: defaultdict[tuple[str, Any], dict[int, list[Call]]] = defaultdict(dict)

    def add(self, process: int, parent: int | None, calls: Iterable[Call]) -> None:
        """`calls` in order of start. Processes with one parent are a group."""
        found = list(calls)
        for meeting in KNOWN:
            of_meeting = _of(meeting, found)
            if of_meeting:
                self._groups[meeting.name, parent][process] = of_meeting

    def columns(self) -> dict[str, list[Any]]:
        """The relation: groups of two processes or more."""
        rows = [
            (process, name, *numbers)
            for (name, _), group in self._groups.items()
            if len(group) > 1
            for process, numbers in _rows(group)
        ]
        return {column: [row[place] for row in rows] for place, column in enumerate(COLUMNS)}


def _of(meeting: Meeting, calls: Sequence[Call]) -> list[Call]:
    if not meeting.after:
        return [call for call in calls if call.function == meeting.function]
    found, is_due = [], False
    for call in calls:
        if call.function == meeting.after:
            is_due = True
        elif call.function == meeting.function and is_due:
            found.append(call)
            is_due = False
    return found


def _rows(group: Mapping[int, Sequence[Call]]) -> list[tuple[int, tuple[int, ...]]]:
    """The n-th calls of all processes are one meeting, as long as each process has one."""
    meetings = min(len(calls) for calls in group.values())
    starts = np.array([[call.start_ns for call in calls[:meetings]] for calls in group.values()])
    lengths = np.array(
        [[call.duration_ns for call in calls[:meetings]] for calls in group.values()]
    )
    waited = np.minimum(starts.max(axis=0) - starts, lengths)
    is_last = starts.argmax(axis=0)
    two = np.sort(starts, axis=0)[-2:]
    late = two[1] - two[0]
    return [
        (
            process,
            (
                len(calls),
                meetings,
                int(lengths[place].sum()),
                int(waited[place].sum()),
                int((is_last == place).sum()),
                int(late[is_last == place].sum()),
            ),
        )
        for place, (process, calls) in enumerate(group.items())
    ]
