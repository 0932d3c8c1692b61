"""Runs that are kept by a name, to compare later ones with.

STORE/<name>/baseline.json    which runs it is, and when it was kept
STORE/<name>/<run>            each of them, a copy of its trace directory

A copy stays as it is when the runs are recorded again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from rlscope.errors import RlscopeError
from rlscope.rundir import regular_files, run_search

STORE = "rlscope_baselines"
"""The folder of baselines, where nothing else was given: in the working directory."""
_FILE = "baseline.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST_BYTES = 1 << 20
_LEFT_OUT = ("rings", "tables", "claim.*", "report.html")
"""What is no record of the run, or is made again."""


def save(name: str, runs: Sequence[str], store: str, *, force: bool = False) -> Path:
    """Keeps copies of the runs; returns the folder of the baseline.

    Args:
        force: replace a baseline of this name.

    Raises RlscopeError: the name is none, it is kept already, or a file cannot be copied.
    """
    folder = _folder(name, store)
    if folder.exists() and not force:
        raise RlscopeError(f"there is a baseline {name} already; --force replaces it")
    unfinished = folder.with_name(f".{name}.{os.getpid()}")
    try:
        unfinished.mkdir(parents=True)
        kept = {_place(number, each): each for number, each in enumerate(runs)}
        for place, run in kept.items():
            shutil.copytree(
                run, unfinished / place, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT)
            )
        described = {
            "name": name,
            "saved": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "runs": {place: os.path.abspath(run) for place, run in kept.items()},
        }
        text = json.dumps(described, indent=1) + "\n"
        regular_files.replace(unfinished, _FILE, text.encode(errors="backslashreplace"))
        _replace(folder, unfinished)
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RlscopeError(f"cannot keep the baseline {name} in {store}: {reason}") from error
    finally:
        with suppress(OSError):
            shutil.rmtree(unfinished)
    return folder


def _replace(folder: Path, unfinished: Path) -> None:
    """Gives the copies their place. What was there goes only when they have it."""
    replaced = unfinished.with_name(f"{unfinished.name}.replaced")
    if folder.exists():
        folder.rename(replaced)
    try:
        unfinished.rename(folder)
    except OSError:
        if replaced.exists():
            replaced.rename(folder)
        raise
    shutil.rmtree(replaced, ignore_errors=True)


def _place(number: int, run: str) -> str:
    """Numbered: two runs may have one name."""
    return f"{number + 1:03d}-{os.path.basename(os.path.abspath(run))}"


def names(store: str) -> list[str]:
    """The baselines of a folder, in order; none where there is no folder."""
    try:
        found = os.listdir(store)
    except OSError:
        return []
    return sorted(each for each in found if _NAME.fullmatch(each) and is_kept(each, store))


def is_kept(name: str, store: str) -> bool:
    """Whether there is a baseline of this name."""
    return bool(_NAME.fullmatch(name)) and os.path.isfile(os.path.join(store, name, _FILE))


def runs_of(name: str, store: str) -> list[str]:
    """The trace directories of a baseline.

    Raises RlscopeError: there is none of this name, or it holds no run.
    """
    folder = _folder(name, store)
    if not is_kept(name, store):
        known = ", ".join(names(store)) or "none"
        raise RlscopeError(f"no baseline {name!r} in {store}; there are: {known}")
    found = run_search.find(folder)
    if not found:
        raise RlscopeError(f"the baseline {name} in {store} holds no run any more")
    return found


def saved(name: str, store: str) -> str:
    """When it was kept, ISO 8601 in UTC; "": its file does not say."""
    try:
        kept = json.loads(regular_files.read(_folder(name, store), _FILE, _MOST_BYTES))
        return str(kept["saved"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ""


def _folder(name: str, store: str) -> Path:
    if not _NAME.fullmatch(name):
        raise RlscopeError(
            f"the name of a baseline is of letters, digits, dots and hyphens, not {name!r}"
        )
    return Path(store) / name
