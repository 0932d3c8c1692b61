"""Which runs a comparison is of: trace directories, folders of them, or the name of a baseline."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence

from rlscope.compare import baselines, measured
from rlscope.compare.measured import Measured
from rlscope.errors import RlscopeError, TraceError
from rlscope.rundir import run_search
from rlscope.terminal.shown_opening import load_shown

_PATTERN = "*?["


def directories(named: Sequence[str], store: str) -> list[str]:
    """The trace directories of one side, each once.

    Args:
        named: trace directories; folders, of which every run below counts; patterns such as
            "runs/base-*", where no shell made paths of them; names of baselines.
        store: the folder of baselines.

    Raises RlscopeError: one is nothing of that kind, or cannot be read.
    """
    found = [each for name in named for each in _found(name, store)]
    return list({os.path.realpath(each): each for each in found}.values())


def _found(name: str, store: str) -> list[str]:
    if os.path.isdir(name):
        try:
            runs = run_search.find(name)
        except OSError as error:
            raise RlscopeError(f"cannot read {name}: {error.strerror}") from error
        # A directory that holds none is opened, which says why it is no trace.
        return runs or [name]
    if is_pattern(name):
        matching = sorted(each for each in glob.glob(name) if os.path.isdir(each))
        if matching:
            return [run for each in matching for run in _found(each, store)]
    if baselines.is_kept(name, store):
        return baselines.runs_of(name, store)
    known = ", ".join(baselines.names(store))
    there = f"; there are the baselines {known}" if known else ""
    raise RlscopeError(f"no trace directory, folder or baseline {name!r}{there}")


def is_pattern(name: str) -> bool:
    """Whether a name holds signs of a pattern."""
    return any(sign in name for sign in _PATTERN)


def read(found: Sequence[str], step: Callable[[str], None]) -> list[Measured]:
    """What the runs hold, one open at a time.

    Raises RlscopeError: one cannot be read.
    """
    runs = []
    for directory in found:
        step(f"reading {directory}")
        try:
            with load_shown(directory, step=step) as trace:
                runs.append(measured.read(trace))
        except TraceError as error:
            raise TraceError(f"{directory}: {error}") from error
    return runs
