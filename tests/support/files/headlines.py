"""The headline of hand-written relations (relation_rows.py)."""

from __future__ import annotations

from rlscope.report import headline
from support.files.relation_rows import Relations

LOOP = "of the training loop"


def read(trace: Relations) -> headline.Headline:
    return headline.read(trace)  # type: ignore[arg-type]


def texts(trace: Relations, *, warning: bool) -> list[str]:
    """The sentences below the first one."""
    return [each.text for each in read(trace).details if each.warning is warning]
