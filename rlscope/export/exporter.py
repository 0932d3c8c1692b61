"""What a format is: a row of the registry, rlscope.exporters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rlscope.export.window import Window
from rlscope.relations.trace import Trace

Tell = Callable[[float], None]
"""Called with the part that is written, 0 to 1."""


@dataclass
class Exported:
    """What was written."""

    counts: Counter[str] = field(default_factory=Counter)
    """What it has, in the plural: "slices", "arrows"."""
    left_out: list[str] = field(default_factory=list)
    """What it does not have, and why: a line each."""


class Exporter(Protocol):
    """Writes runs in one format."""

    ending: str
    """The end of the name that is chosen if none is given: ".pftrace"."""

    def write(
        self, trace: Trace, window: Window, path: Path, *, force: bool, tell: Tell
    ) -> Exported:
        """Writes a window of a run as a new file or folder.

        Args:
            force: take the place of what was written there before.

        Raises:
            RlscopeError: it cannot be written, or is there already.
        """
