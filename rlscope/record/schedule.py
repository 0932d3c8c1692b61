"""The wrapper's actions at certain times while it waits for the program."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

Action = Callable[[], None]


@dataclass
class _Entry:
    due: float
    period: float | None
    """None: run once."""
    action: Action


class Schedule:
    """Actions with a due time, run by the one thread that waits."""

    def __init__(self, on_failure: Callable[[Exception], None]) -> None:
        """`on_failure` is called when an action raised; that action is not run again."""
        self._entries: list[_Entry] = []
        self._on_failure = on_failure

    def after(self, seconds: float, action: Action) -> None:
        """Runs `action` once."""
        self._entries.append(_Entry(time.monotonic() + seconds, None, action))

    def every(self, seconds: float, action: Action) -> None:
        """Runs `action` again and again, at least half of `seconds` after its last run ended.

        Actions are due together where they can be: each time the thread wakes costs something.
        """
        self._entries.append(_Entry(_next_due(seconds), seconds, action))

    def seconds_left(self) -> float:
        """Until the next action is due; an hour when there is none."""
        nearest = min((entry.due for entry in self._entries), default=float("inf"))
        return min(3600.0, nearest - time.monotonic())

    def run_due(self) -> None:
        """Runs the actions that are due; never raises."""
        now = time.monotonic()
        for entry in [entry for entry in self._entries if entry.due <= now]:
            self._run(entry)

    def _run(self, entry: _Entry) -> None:
        try:
            entry.action()
        except Exception as error:
            self._on_failure(error)
            entry.period = None
        if entry.period is None:
            self._entries.remove(entry)
        else:
            entry.due = _next_due(entry.period)


def _next_due(period: float) -> float:
    """The next multiple of the period that is at least half of one away."""
    return math.ceil(time.monotonic() / period + 0.5) * period
