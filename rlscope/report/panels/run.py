"""What was run: command, machine, versions and the program's own metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import run_facts
from rlscope.report import limits, units
from rlscope.report.panel import Drawing, Grid, Panel, Tables
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.load import Trace


def read(trace: Trace) -> dict[str, Table]:
    return {
        "run": trace.table("run"),
        "host": trace.table("host"),
        "metadata": run_facts.metadata_value(trace, rows=limits.ROWS),
        "python": run_facts.python_version(trace, rows=limits.ROWS),
    }


def draw(tables: Tables) -> Drawing | None:
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
                [[str(cell) for cell in row] for row in tables["metadata"]],
                open=True,
            )
        )
    return Drawing(grids=grids) if grids else None


def _run(row: dict[str, Any]) -> list[list[str]]:
    known = {
        "command": row["command"],
        "name": row["name"],
        "began": row.get("start_time"),
        "lasted": units.duration(row["end_ns"] - row["start_ns"]),
        "recorded by": f"rlscope {row['version']}" if row["version"] else None,
        "options": row.get("options"),
        "run id": row["run_id"],
    }
    return [[name, str(value)] for name, value in known.items() if value]


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
    empty="run.json is missing, so nothing is known about the command and the machine.",
)
