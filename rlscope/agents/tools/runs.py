"""The runs in the folder: how each ended, where its time went, and what to mend first."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Any

from rlscope.agents import quoted
from rlscope.agents.answer import Answer, answer
from rlscope.agents.folder import Folder
from rlscope.report import catalogue
from rlscope.report.catalogue import Run


def runs(folder: Folder, *, name: str, sort: str, limit: int) -> Answer:
    """At most `limit` runs whose name matches, by one of catalogue.SORTS."""
    listed = catalogue.describe(str(folder.path / each) for each in folder.runs())
    wanted = [run for run in listed if fnmatch.fnmatchcase(run.name, name)]
    found = catalogue.sort(wanted, sort)
    return answer(
        {
            "runs": [_row(folder, run) for run in found[:limit]],
            "more": len(found) - len(found[:limit]),
            "query": "rlscope runs FOLDER --json",
        }
    )


def _row(folder: Folder, run: Run) -> dict[str, Any]:
    return {
        "run": quoted.text(folder.name_of(Path(run.directory))),
        "name": quoted.text(run.name),
        "state": run.state,
        "start_time": None if run.start_time is None else quoted.text(run.start_time),
        "length_ns": run.duration_ns,
        "command": None if run.command is None else quoted.text(run.command),
        "headline": None if run.headline is None else quoted.text(run.headline, quoted.SENTENCE),
        "finding": None if run.finding is None else quoted.text(run.finding, quoted.SENTENCE),
        "note": quoted.text(run.note, quoted.SENTENCE) if run.note else None,
    }
