"""DIR/experiments.jsonl: what `rlscope advise --measure` measured for the prices of a run."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rlscope.rundir import regular_files

FILE = "experiments.jsonl"
_MOST_BYTES = 1 << 20
BEGINNING = b'{"experiment": '
"""What the file begins with; --force knows it by that."""


@dataclass(frozen=True)
class Outcome:
    """The part of the time that is left in the advised way, with its 95 % interval, and how long
    the work takes in the program's way and in the advised way, in seconds."""

    left: float
    left_low: float
    left_high: float
    program_s: float
    advised_s: float


Key = str
"""An experiment with its settings: key_of()."""


def key_of(name: str, settings: Mapping[str, Any]) -> Key:
    """The same for the same experiment of the same run."""
    return json.dumps([name, settings], sort_keys=True)


def append(root: str | os.PathLike[str], key: Key, outcome: Outcome) -> None:
    """Keeps an outcome; a later one of the same key replaces it. Raises OSError."""
    line = f"{json.dumps({'experiment': key, **asdict(outcome)})}\n".encode()
    regular_files.append(root, FILE, line)


def read(root: str | os.PathLike[str]) -> dict[Key, Outcome]:
    """What was measured last of each experiment; a damaged line is left out."""
    try:
        content = regular_files.read(root, FILE, _MOST_BYTES)
    except OSError:
        return {}
    parsed = (_parse(line) for line in content.split(b"\n"))
    return dict(each for each in parsed if each is not None)


def _parse(line: bytes) -> tuple[Key, Outcome] | None:
    try:
        values = json.loads(line)
        key = values.pop("experiment")
        outcome = Outcome(**{name: float(value) for name, value in values.items()})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return None
    if not isinstance(key, str) or not all(map(math.isfinite, asdict(outcome).values())):
        return None
    is_interval = 0 < outcome.left_low <= outcome.left <= outcome.left_high
    return (key, outcome) if is_interval else None
