"""The runs below a folder: what each is, how it ended, and where its time went.

Made of what is cheap: run.json, and the index of the trace files, which are not analysed. The
headline and the first finding need tables; a run that has none yet has neither here. They are kept
where they were made:

    tables/headline.json   both, and the identity of the manifest that they were read from
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rlscope.errors import RlscopeError
from rlscope.relations.files.lock import Lock
from rlscope.relations.files.manifest import MANIFEST, current_files
from rlscope.relations.files.places import FOLDER
from rlscope.relations.rows import run_facts
from rlscope.report import contents
from rlscope.rundir import regular_files, run_search

if TYPE_CHECKING:
    from rlscope.opening import Trace

IMPORTED = "imported"
"""Key of run.json that says which program's files a run was made from."""
NO_TABLES = "no tables yet"
"""The note of a run that was never analysed, or of which more was recorded since."""
STATES = ("running", "complete", "failed", "interrupted", "cut", "damaged", "imported")

_HEADLINE = f"{FOLDER}/headline.json"
_MANIFEST = f"{FOLDER}/{MANIFEST}"
_MOST_BYTES = 1 << 20


class Run(NamedTuple):
    """One run, as a list of runs shows it."""

    directory: str
    name: str
    state: str
    """One of STATES; cut: recording stopped before the program did."""
    start_time: str | None
    """ISO 8601, in UTC; None: run.json does not say."""
    duration_ns: int | None
    """From the first start of a process to the last end."""
    command: str | None
    headline: str | None
    """Where the time goes: the first sentence of its report."""
    finding: str | None
    """What to mend first, and what that is worth; "": nothing is surely worth it. None: not known,
    as the headline."""
    note: str
    """Why there is no headline, or what is damaged."""
    exit: int | None = None
    """Exit code of the program; None: not known."""


def read(
    folder: str,
    *,
    wanted: Callable[[Run], bool] = lambda _: True,
    step: Callable[[str], None] = lambda _: None,
) -> list[Run]:
    """The wanted runs at and below a folder, in the order of their paths.

    Args:
        wanted: is asked about each run while it has no headline yet.
        step: called with a few words before a headline is made.

    Raises OSError: the folder cannot be read.
    """
    found = [run for run in map(_described, run_search.find(folder)) if wanted(run)]
    return [_with_headline(run, step) for run in found]


def describe(directories: Iterable[str]) -> list[Run]:
    """The runs of these trace directories, in their order, with their headlines."""
    return [_with_headline(_described(each), lambda _: None) for each in directories]


def _described(directory: str) -> Run:
    facts = run_facts.read_run_json(Path(directory))
    command = shlex.join(run_facts.command_words(facts)) or None
    name = str(facts.get("name") or Path(directory).absolute().name)
    began = facts.get("start_time")
    run = Run(directory, name, "complete", began, None, command, None, None, "")
    try:
        read = contents.read(directory)
    except (RlscopeError, OSError) as error:
        return run._replace(state="damaged", note=str(error))
    return run._replace(
        state=_state(read, facts),
        duration_ns=read.duration_ns,
        note=_damage(read, facts),
        exit=read.exit,
    )


def _state(read: contents.Contents, facts: dict[str, Any]) -> str:
    if facts.get(IMPORTED):
        return "imported"
    if read.running:
        return "running"
    if read.cuts:
        return "cut"
    if _damage(read, facts):
        return "damaged"
    if read.interrupted:
        return "interrupted"
    return "failed" if read.exit else "complete"


def _damage(read: contents.Contents, facts: dict[str, Any]) -> str:
    if "name" not in facts and "start_time" not in facts and "command" not in facts:
        return "run.json is missing or damaged"
    if count := read.lost.get("damaged_bytes", 0):
        return f"{count:,} damaged bytes"
    return "a trace file cannot be read" if read.lost.get("unreadable_file", 0) else ""


def _with_headline(run: Run, step: Callable[[str], None]) -> Run:
    """The run with its headline, if tables are there that say it."""
    root = Path(run.directory)
    lock = Lock(root)
    if not lock.share():
        return run._replace(note=run.note or "its tables are being made")
    try:
        if current_files(root, MANIFEST, finished=True) is None:
            return run._replace(note=run.note or NO_TABLES)
        if (known := _known_headline(root)) is None:
            step(f"reading the headline of {run.directory}")
            known = _read_headline(root)
        return run._replace(headline=known[0], finding=known[1])
    except RlscopeError as error:
        return run._replace(note=run.note or str(error))
    finally:
        lock.release()


def _read_headline(root: Path) -> tuple[str, str]:
    from rlscope.opening import Trace

    with Trace(root) as trace:  # its tables as they are
        return keep_headline(trace)


def keep_headline(trace: Trace) -> tuple[str, str]:
    """The first sentence about a trace and its first finding, which are kept beside its tables. Who
    has just made a report of the trace has them at once: no question is asked twice of a trace."""
    from rlscope.report import answer, headline

    kept = {"sentence": headline.first_sentence(trace), "finding": answer.first_finding(trace)}
    with suppress(OSError):  # read-only, or full
        if not trace.in_memory:
            text = json.dumps({"manifest": _identity(trace.path), **kept})
            regular_files.replace(trace.path, _HEADLINE, text.encode())
    return kept["sentence"], kept["finding"]


def _known_headline(root: Path) -> tuple[str, str] | None:
    """What was read from these very tables. What came with a stranger's trace is not believed: the
    kernel gives a manifest its identity."""
    try:
        known = json.loads(regular_files.read(root, _HEADLINE, _MOST_BYTES))
        if known["manifest"] != _identity(root):
            return None
        return str(known["sentence"]), str(known["finding"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _identity(root: Path) -> list[int]:
    status = regular_files.status(root, _MANIFEST)
    return [status.st_ino, status.st_ctime_ns, status.st_size]


SORTS: dict[str, Callable[[Run], Any]] = {
    "date": lambda run: (run.start_time is not None, run.start_time or ""),
    "length": lambda run: run.duration_ns or 0,
    "name": lambda run: run.name,
    "state": lambda run: STATES.index(run.state),
    "directory": lambda run: run.directory,
}
_LARGEST_FIRST = ("date", "length")


def sort(runs: Sequence[Run], key: str) -> list[Run]:
    """By one of SORTS: newest and longest first, else in ascending order."""
    return sorted(runs, key=SORTS[key], reverse=key in _LARGEST_FIRST)
