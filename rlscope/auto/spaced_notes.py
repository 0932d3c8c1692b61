"""Notes in a process's metadata: now and then, ever less often, and at the end of the process."""

import atexit
import os
import time
from collections.abc import Callable

_FIRST_NS, _LAST_NS = 1_000_000_000, 64_000_000_000  # between notes; it doubles


class SpacedNotes:
    """Writes a note that others ask for."""

    def __init__(self, note: Callable[[], None]) -> None:
        """`note` writes it. It is called at the end, too."""
        self._note = note
        self._next_ns, self._space_ns = 0, _FIRST_NS
        atexit.register(note)
        os.register_at_fork(after_in_child=self._begin_again)

    def soon(self) -> None:
        """What the note says has changed."""
        now = time.monotonic_ns()
        if now >= self._next_ns:
            self._next_ns, self._space_ns = now + self._space_ns, min(2 * self._space_ns, _LAST_NS)
            self._note()

    def _begin_again(self) -> None:
        self._next_ns, self._space_ns = 0, _FIRST_NS
