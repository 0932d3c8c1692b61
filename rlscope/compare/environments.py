"""What two sides of runs were made with, where that differs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from rlscope.compare.measured import Measured

ABSENT = "-"
"""The value of a fact that a run lacks."""
_INTERPRETER = "python"
_RELEASE = "release of "
"""How kinds of releases of libraries begin."""


@dataclass(frozen=True)
class Fact:
    """One kind of it: the values of each side, each once."""

    kind: str
    base: Sequence[str]
    new: Sequence[str]


def differing(base: Sequence[Measured], new: Sequence[Measured]) -> list[Fact]:
    """The kinds of which the runs have more than one value, in the order of the facts."""
    kinds = list(dict.fromkeys(kind for run in (*base, *new) for kind in run.facts))
    facts = [Fact(kind, _values(base, kind), _values(new, kind)) for kind in kinds]
    return [fact for fact in facts if len({*fact.base, *fact.new}) > 1]


def _values(side: Sequence[Measured], kind: str) -> list[str]:
    found = {run.facts.get(kind, ABSENT) for run in side}
    # A process that was killed has said no releases.
    return sorted(found - {ABSENT} if kind.startswith(_RELEASE) else found)


def script_of(command: str) -> str:
    """What a command line runs, without its arguments and folders.

    >>> script_of("/usr/bin/python3 -u /me/train.py --seed 3"), script_of("python -m agents.ppo")
    ('train.py', 'agents.ppo')
    """
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    if words and os.path.basename(words[0]).startswith(_INTERPRETER):
        words = [word for word in words[1:] if not word.startswith("-")]
    return os.path.basename(words[0]) if words else ""
