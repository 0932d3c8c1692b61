"""`rlscope info DIR`: prints the contents of a trace and its damage."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.rundir import kept_iterations
from rlscope.terminal.shown_opening import load_shown
from rlscope.visible import visible

if TYPE_CHECKING:
    from rlscope.opening import Trace
    from rlscope.table import Table

_DESCRIPTION = """\
Prints what was recorded: the run and its machine, every process with its size, losses and
damage, and the columns that this trace cannot fill. rlscope summary shows where the time went."""

_EXAMPLES = """\
examples:
  rlscope info runs/ppo
"""

_PROCESSES = """
SELECT process_id, parent_process_id AS parent, os_pid, name, python, ended, exit,
       end_ns - start_ns AS wall_ns, cpu_ns, events, file_bytes
FROM process ORDER BY process_id
"""
_LOSSES = """
SELECT kind, sum("count")::BIGINT AS "count", sum(duration_ns)::BIGINT AS duration_ns,
       list(DISTINCT detail ORDER BY detail) FILTER (detail != '') AS details
FROM loss GROUP BY kind ORDER BY "count" DESC, kind
"""
_ABSENT = """
SELECT reason,
       string_agg(relation || CASE column_name WHEN '*' THEN '' ELSE '.' || column_name END, ', ')
         AS what
FROM absent GROUP BY reason ORDER BY what
"""
_SIZES = """
SELECT count(*) AS processes, sum(events) AS events, sum(file_bytes) AS file_bytes FROM process
"""


_DETAILS = 5  # of one kind of loss


def prepare(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EXAMPLES
    parser.add_argument("directory", metavar="DIR", help="trace directory")


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Prints the facts."""
    with load_shown(options.directory) as trace:
        print("\n".join(_lines(trace, options.directory)))
    return 0


def _lines(trace: Trace, directory: str) -> Iterator[str]:
    yield from _facts("run", trace.table("run"))
    for host in trace.table("host").to_dicts():
        yield from _listed(f"host {host.pop('host_id')}", host)
    kept = kept_iterations.find(directory)
    if kept:
        folders: dict[str, object] = {
            str(each): os.path.join(directory, each.folder) for each in kept
        }
        yield from _listed("kept apart", folders)
    yield from _listed("size", trace.sql(_SIZES).to_dicts()[0])
    yield from _section("processes", trace.sql(_PROCESSES))
    yield from _losses(trace.sql(_LOSSES))
    yield "unknown in this trace"
    for reason, what in trace.sql(_ABSENT):
        yield from (f"  {visible(reason)}:", f"    {what}")


def _facts(title: str, table: Table) -> Iterator[str]:
    for row in table.to_dicts():
        yield from _listed(title, row)


def _listed(title: str, row: dict[str, object]) -> Iterator[str]:
    known = {name: value for name, value in row.items() if value is not None}
    width = max(map(len, known), default=0)
    yield title
    for name, value in known.items():
        text = f"{value:,}" if _grouped(name, value) else visible(str(value))
        yield f"  {name:{width}}  {text}"
    yield ""


def _grouped(name: str, value: object) -> bool:
    """Whether the number reads better with commas: amounts, not identities."""
    return isinstance(value, int) and (name.endswith(("_ns", "_hz", "bytes")) or name == "events")


def _section(title: str, table: Table) -> Iterator[str]:
    yield title
    yield from (f"  {line}" for line in repr(table).splitlines())
    yield ""


def _losses(table: Table) -> Iterator[str]:
    yield "lost or mended"
    if not len(table):
        yield "  nothing"
    for kind, count, duration_ns, details in table:
        time = "" if duration_ns is None else f", {duration_ns:,} ns"
        yield f"  {visible(kind)}: {count:,}{time}"
        yield from (f"    {visible(detail)}" for detail in (details or ())[:_DETAILS])
        if len(details or ()) > _DETAILS:
            yield f"    and {len(details) - _DETAILS} more: rlscope query DIR 'FROM loss'"
    yield ""
