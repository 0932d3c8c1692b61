"""One line of `rlscope doctor`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum


class Status(str, Enum):
    """Whether the line's subject can be recorded."""

    GOOD = "good"
    ABSENT = "absent"
    """There is nothing to record: no GPU, no such framework."""
    LIMITED = "limited"
    """Recorded, but not all of it, or at a higher cost."""
    BAD = "bad"
    """Would be recorded, if the remedy were taken."""


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it stands, and what to do about it."""

    subject: str
    status: Status
    text: str
    remedy: str = ""
    """A sentence or a command; empty where nothing is to be done."""

    def to_dict(self) -> dict[str, str]:
        """The fields, as plain text."""
        return {**asdict(self), "status": self.status.value}
