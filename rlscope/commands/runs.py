"""`rlscope runs [DIR]`: lists the runs in a folder, and where the time of each went."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from rlscope.errors import RlscopeError
from rlscope.terminal.status_line import progress
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.report.catalogue import Run

_DESCRIPTION = """\
Lists the runs in a folder and below it. Each line has directory, name, state, start, length, what
to mend first and what that is worth, and a headline: where the time went. If a run was never
analysed, it has neither yet. rlscope runs does not analyse it.

States: running, complete, failed (with its exit code), interrupted, cut (recording stopped before
the program did), damaged, imported."""

_EXAMPLES = """\
examples:
  rlscope runs
      lists all runs below the working directory, the newest first
  rlscope runs runs --name "ppo*" --since 7d --sort length
  rlscope runs runs --since 2026-11-01 --long
      prints the command of each run, too
  rlscope runs runs --json
"""

_SORTS = ("date", "length", "name", "state", "directory")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGE = re.compile(r"([0-9]{1,6})([mhdw])")
_HEADS = ("directory", "name", "state", "began", "length", "first finding", "headline")
_FINDING = 60  # characters of a finding, whose ends are its place and its price
_NOTHING = "nothing surely worth it"
_SHORTEST_HEADLINE = 20  # characters, however narrow the terminal is


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "folder", metavar="DIR", nargs="?", default=".", help="search this folder (default: .)"
    )
    parser.add_argument(
        "--sort",
        choices=_SORTS,
        default="date",
        help="sort by this column (default: date). By date the newest run is first, by length the "
        "longest",
    )
    parser.add_argument("--name", metavar="PATTERN", help='list runs whose name matches: "ppo*"')
    parser.add_argument(
        "--since",
        metavar="TIME",
        help="list runs that began after TIME: 2026-11-01, 2026-11-01T12:00, or 30m, 12h, 7d or 2w "
        "ago",
    )
    parser.add_argument("--long", action="store_true", help="print the command of each run, too")
    parser.add_argument("--json", action="store_true", help="print JSON: an array of objects")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Prints the list."""
    since = None if options.since is None else _time(options.since)
    if options.since is not None and since is None:
        parser.error(f"--since takes 2026-11-01, 2026-11-01T12:00 or 7d, not {options.since!r}")
    from rlscope.report import catalogue

    try:
        with progress() as line:
            found = catalogue.read(
                options.folder, wanted=_wanted(options.name, since), step=line.step
            )
    except OSError as error:
        raise RlscopeError(f"cannot read {options.folder}: {error.strerror}") from error
    found = catalogue.sort(found, options.sort)
    if options.json:
        print(json.dumps([each._asdict() for each in found], indent=1))
    else:
        print("".join(f"{each}\n" for each in _lines(found, options.long)), end="")
    return 0


def _time(text: str) -> datetime | None:
    """A time that was typed: of a calendar, local where it names no zone, or an age."""
    if age := _AGE.fullmatch(text):
        return datetime.now(timezone.utc) - timedelta(**{_UNITS[age[2]]: int(age[1])})
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        return None


def _wanted(name: str | None, since: datetime | None) -> Callable[[Run], bool]:
    def wanted(run: Run) -> bool:
        if name is not None and not fnmatch.fnmatchcase(run.name, name):
            return False
        began = _began(run)
        return since is None or (began is not None and began >= since)

    return wanted


def _began(run: Run) -> datetime | None:
    try:
        return datetime.fromisoformat(run.start_time or "").astimezone()
    except (ValueError, OverflowError):
        return None


def _lines(runs: list[Run], long: bool) -> Iterator[str]:
    from rlscope.report import catalogue

    rows = [_HEADS, *map(_row, runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = _room(sum(widths[:-1]) + 2 * (len(widths) - 1))
    for number, row in enumerate(rows):
        cells = [text.ljust(width) for text, width in zip(row[:-1], widths, strict=False)]
        yield "  ".join([*cells, _cut(row[-1], room)]).rstrip()
        if long and number and (command := runs[number - 1].command):
            yield f"    {visible(command)}"
    if any(run.note == catalogue.NO_TABLES for run in runs):
        yield ""
        yield f"{catalogue.NO_TABLES}: run rlscope summary DIR to get its finding and headline"


def _row(run: Run) -> tuple[str, ...]:
    from rlscope.report import units

    began = _began(run)
    return (
        visible(run.directory),
        units.label(run.name),
        f"{run.state} ({run.exit})" if run.state == "failed" else run.state,
        began.strftime("%Y-%m-%d %H:%M") if began else "-",
        units.duration(run.duration_ns),
        _finding(run),
        visible(run.headline or run.note or "-"),
    )


def _finding(run: Run) -> str:
    """A program that failed says nothing of what its loop is worth."""
    from rlscope.report import units

    if run.finding is None or (run.state == "failed" and not run.finding):
        return "-"
    return units.label(run.finding, _FINDING) or _NOTHING


def _room(used: int) -> int | None:
    """Columns of the terminal that are left; None: what reads it is none, and takes all."""
    if not sys.stdout.isatty():
        return None
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        columns = 80
    return max(_SHORTEST_HEADLINE, columns - used)


def _cut(text: str, room: int | None) -> str:
    return text if room is None or len(text) <= room else f"{text[: room - 1]}…"
