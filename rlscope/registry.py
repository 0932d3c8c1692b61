"""What can be added by one file and one row: verbs, report panels, renderers.

A row is "name": "module:object", or "module" when the module itself is the object. The module is
imported at first use, so that `rlscope --help` imports no framework, no DuckDB and no plotly.
Other packages add rows through entry points of the same group:

    [project.entry-points."rlscope.commands"]
    mine = "my_package.my_module"
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.errors import RlscopeError

if TYPE_CHECKING:
    from importlib import metadata

COMMANDS = "rlscope.commands"
PANELS = "rlscope.report.panels"
RENDERERS = "rlscope.report.renderers"

# Order matters: help lists verbs, and a report shows panels, in the order of their rows.
_ROWS: Mapping[str, Mapping[str, str]] = {
    COMMANDS: {
        "prof": "rlscope.commands.prof",
        "summary": "rlscope.commands.summary",
        "report": "rlscope.commands.report",
        "query": "rlscope.commands.query",
        "info": "rlscope.commands.info",
    },
    PANELS: {
        "operations": "rlscope.report.panels.operations:PANEL",
        "gpu": "rlscope.report.panels.gpu:PANEL",
        "timeline": "rlscope.report.panels.timeline:PANEL",
        "iterations": "rlscope.report.panels.iterations:PANEL",
        "progress": "rlscope.report.panels.progress:PANEL",
        "processes": "rlscope.report.panels.processes:PANEL",
        "machine": "rlscope.report.panels.machine:PANEL",
        "quality": "rlscope.report.panels.quality:PANEL",
        "run": "rlscope.report.panels.run:PANEL",
    },
    RENDERERS: {
        "terminal": "rlscope.report.renderers.terminal:render_summary",
        "html": "rlscope.report.renderers.html:render",
        "json": "rlscope.report.renderers.json:render",
    },
}


def names(group: str) -> list[str]:
    """Names of a group: the built-in ones in the order of their rows, then those of others."""
    return list(_rows(group))


def builtin(group: str) -> Mapping[str, str]:
    """The rows of this package: name -> "module:object"."""
    return _ROWS[group]


def load(group: str, name: str) -> Any:
    """Imports the object behind a name.

    Raises RlscopeError when no row has that name, or when a row of another package cannot be
    imported; an error inside our own module is a bug and keeps its traceback.
    """
    rows = _rows(group)
    if name not in rows:
        known = ", ".join(rows)
        raise RlscopeError(f"no {name!r} in {group}; there are: {known}")
    row = rows[name]
    if isinstance(row, str):
        module, _, attribute = row.partition(":")
        imported = importlib.import_module(module)
        return getattr(imported, attribute) if attribute else imported
    return _load_foreign(group, row)


def module_of(group: str, name: str) -> str:
    """Name of the module behind a row, without importing it."""
    row = _rows(group)[name]
    return row.partition(":")[0] if isinstance(row, str) else row.module


def load_all(group: str) -> Iterator[tuple[str, Any]]:
    """Every (name, object) of a group, imported one by one."""
    for name in names(group):
        yield name, load(group, name)


def _rows(group: str) -> dict[str, str | metadata.EntryPoint]:
    from importlib import metadata  # 15 ms: not before rls-prof has started its program

    rows: dict[str, str | metadata.EntryPoint] = dict(_ROWS[group])
    for point in metadata.entry_points(group=group):
        rows.setdefault(point.name, point)  # a built-in name cannot be taken over
    return rows


def _load_foreign(group: str, point: metadata.EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise RlscopeError(f"{group}: {point.name} ({point.value}) failed: {error}") from error
