"""What was run: command, machine, versions and the program's own metadata."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rlscope.analysis import run_facts
from rlscope.report import limits, units
from rlscope.report.panel import Drawing, Grid, Nothing, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.opening import Trace

_EMPTY = "run.json is missing, so nothing is known about the command and the machine."


def read(trace: Trace) -> dict[str, Table]:
    return {
        "run": trace.table("run"),
        "host": trace.table("host"),
        "metadata": run_facts.metadata_value(trace, rows=limits.ROWS),
        "python": run_facts.python_version(trace, rows=limits.ROWS),
    }


def draw(tables: Tables) -> Drawing | Nothing:
    facts = [fact for row in tables["run"].to_dicts() for fact in _run(row)]
    facts += [
        ["Python", f"{python} ({units.plural(number, 'process')})"]
        for python, number in tables["python"]
    ]
    facts += [["machine", _host(row)] for row in tables["host"].to_dicts()[: limits.ROWS]]
    grids = [Grid("Run and machines", ["what", "value"], facts, open=True)] if facts else []
    if len(tables["metadata"]):
        grids.append(
            Grid(
                "Metadata of the program",
                ["process", "key", "value"],
                [
                    [units.visible(name or "?"), units.visible(key), _told(value)]
                    for name, key, value in tables["metadata"]
                ],
                open=True,
            )
        )
    return Drawing(grids=grids) if grids else Nothing(_EMPTY)


def _run(row: dict[str, Any]) -> list[list[str]]:
    known = {
        "command": row["command"],
        "name": row["name"],
        "began": row.get("start_time"),
        "lasted": units.duration(row["end_ns"] - row["start_ns"]),
        "imported from": row.get("imported"),
        "imported by" if row.get("imported") else "recorded by": (
            f"rlscope {row['version']}" if row["version"] else None
        ),
        "options": _options(row.get("options")),
        "run id": row["run_id"],
    }
    return [[name, str(value)] for name, value in known.items() if value]


def _options(text: str | None) -> str | None:
    """The options of rls-prof besides its defaults: "iterations 5, numpy"."""
    options = _parsed(text or "{}")
    if not isinstance(options, dict):
        return _told(text or "")
    given = {name.replace("_", " "): value for name, value in options.items() if value}
    return ", ".join(
        name if value is True else f"{name} {_in_words(value)}" for name, value in given.items()
    )


def _told(text: str) -> str:
    """A JSON value of the program in words."""
    return units.visible(_in_words(_parsed(text)))


def _parsed(text: str) -> Any:
    """The value; the text itself where a program wrote something else than JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _in_words(value: Any) -> str:
    """Lists and mappings without brackets, one inside another in parentheses."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_inner(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(_inner(each) for each in value)
    words = {None: "none", True: "yes", False: "no"}
    return words[value] if value is None or isinstance(value, bool) else str(value)


def _inner(value: Any) -> str:
    return f"({_in_words(value)})" if isinstance(value, dict | list) else _in_words(value)


def _host(row: dict[str, Any]) -> str:
    parts = [row["name"] or "unnamed", row["cpu"]]
    if row["cores"]:
        parts.append(units.plural(row["cores"], "core"))
    if row["clock"] == "tsc" and row["tsc_hz"]:
        parts.append(f"clock tsc at {row['tsc_hz'] / 1e9:.3f} GHz")
    elif row["clock"]:
        parts.append(f"clock {row['clock']}")
    return ", ".join(str(part) for part in parts if part)


PANEL = Panel(
    title="Run",
    question="What was run, where, and how was it recorded?",
    read=read,
    draw=draw,
)
