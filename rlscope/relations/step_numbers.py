"""Which iteration is which step of another tool: iterations count from 0, ProfilerStep#5 does not.

A process keeps it in its metadata, as runs of steps that follow each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

NOTE = "rlscope.steps"
"""Key of a process's metadata; the value is what `note` returns, as JSON."""
# Metadata has room for 64 KiB.
_MOST_RUNS = 100
_SHOWN = 4


def note(of: str, steps: Sequence[int]) -> dict[str, object]:
    """Notes of a process whose iterations have these steps, in order; `of` stands before a step's
    number. Nothing where iterations have the numbers of their steps."""
    if not steps:
        return {}
    found: dict[str, object] = {"first_step": min(steps)}
    if list(steps) != list(range(len(steps))):
        runs = _runs(steps)
        found[NOTE] = {"of": of, "runs": runs[:_MOST_RUNS], "cut": len(runs) > _MOST_RUNS}
    return found


def sentence(values: Iterable[Any]) -> str:
    """What notes say, as a part of a sentence; those of processes with the same steps are one.
    Empty: they say nothing."""
    texts = dict.fromkeys(filter(None, map(_text, values)))
    return "; in other processes ".join(texts)


def _runs(steps: Sequence[int]) -> list[list[int]]:
    """First and last step of stretches in which each is one more than the one before."""
    runs: list[list[int]] = []
    for step in steps:
        if runs and step == runs[-1][1] + 1:
            runs[-1][1] = step
        else:
            runs.append([step, step])
    return runs


def _text(value: Any) -> str:
    try:
        found = json.loads(value) if isinstance(value, str) else value
        of, runs, cut = found["of"], found["runs"], found["cut"]
        parts, iteration = [], 0
        for first, last in runs[:_SHOWN]:
            count = last - first + 1
            parts.append(_part(iteration, count, str(of), first))
            iteration += count
    except (ValueError, TypeError, KeyError, RecursionError):  # of another version, or cut
        return ""
    if parts and (cut or len(runs) > _SHOWN):
        parts.append("and so on")
    return ", ".join(parts)


def _part(iteration: int, count: int, of: str, step: int) -> str:
    if count == 1:
        return f"iteration {iteration} is {of}{step}"
    return f"iterations {iteration}-{iteration + count - 1} are {of}{step}-{step + count - 1}"
