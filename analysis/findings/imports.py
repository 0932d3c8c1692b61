"""Imports of libraries that the loop does not use, if they take long: paid once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration
from rlscope.analysis import statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, "findings/imports", **asked).to_dicts():
        yield Finding(
            title="libraries that the loop does not use are imported, "
            f"{row['library']} for {duration(row['whole_ns'])}",
            evidence="The panel of imports has them all.",
            evidence_sql=statement.shown("findings/imports", **asked),
            fix="Import them inside the functions that use them.",
            no_effect="No effect on a longer run, which pays it once, too.",
            once_ns=row["all_ns"],
            **_place(row["asked_by"]),
        )


def _place(asked_by: str | None) -> dict[str, Any]:
    """file and line of "train.py:3"."""
    file, _, line = (asked_by or "").rpartition(":")
    return {"file": file, "line": int(line)} if file and line.isdecimal() else {}


RULE = Rule(_find)
