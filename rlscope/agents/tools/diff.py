"""What became slower or faster between runs: the comparison of `rlscope diff`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlscope.agents import quoted
from rlscope.agents.answer import Answer, answer
from rlscope.agents.folder import Folder
from rlscope.compare import comparison, sides
from rlscope.compare.renderers.json import described
from rlscope.errors import Refused

ROW_UNITS = (
    "base and new are nanoseconds per unit. change, low, high and could_tell are parts of 1: 0.05 "
    "is 5 % more"
)
"""What the rows of its tables hold."""
_MOST_ROWS = 20
"""Rows of each table that are answered, the largest changes first."""


def diff(folder: Folder, *, base: Sequence[str], new: Sequence[str]) -> Answer:
    """The runs `new` compared with the runs `base`.

    Raises RlscopeError: a run is outside of the folder, or cannot be read.
    """
    if not base or not new:
        raise Refused("give one run or several for each side")
    before, after = ([str(folder.run(each)) for each in side] for side in (base, new))
    measured = (sides.read(side, lambda _: None) for side in (before, after))
    found = described(comparison.compare(*measured))
    return answer(
        {"row_units": ROW_UNITS, **_marked(folder, found), "query": "rlscope diff --format json"}
    )


def _marked(folder: Folder, found: dict[str, Any]) -> dict[str, Any]:
    for run in (*found["base"], *found["new"]):
        run["directory"] = folder.name_of(folder.path / run["directory"])
    shown = quoted.marked(found, _MOST_ROWS)
    assert isinstance(shown, dict)
    return {key: each for key, each in shown.items() if key not in ("schema", "gate")}
