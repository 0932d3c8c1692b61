"""What became slower or faster between runs: the comparison of `rlscope diff`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from importlib import util
from typing import Any

from rlscope.agents import quoted
from rlscope.agents.answer import Answer, answer
from rlscope.agents.folder import Folder
from rlscope.errors import Refused

_ROOM = "rlscope.compare"
ROW_UNITS = (
    "base and new are nanoseconds per unit. change, low, high and could_tell are parts of 1: 0.05 "
    "is 5 % more"
)
"""What the rows of its tables hold."""
_MOST_ROWS = 20
"""Of each table, the largest changes first."""


def is_there() -> bool:
    """Whether this rlscope compares runs."""
    return util.find_spec(_ROOM) is not None


def diff(folder: Folder, *, base: Sequence[str], new: Sequence[str]) -> Answer:
    """The runs `new` compared with the runs `base`.

    Raises RlscopeError: a run is outside of the folder, or cannot be read.
    """
    if not base or not new:
        raise Refused("give one run or several for each side")
    sides, comparison, renderers = (
        importlib.import_module(f"{_ROOM}.{name}") for name in ("sides", "comparison", "renderers")
    )
    measured = [
        sides.read([str(folder.run(each)) for each in side], lambda _: None) for side in (base, new)
    ]
    found = json.loads(renderers.FORMATS["json"](comparison.compare(*measured), None))
    return answer(
        {"row_units": ROW_UNITS, **_marked(folder, found), "query": "rlscope diff --format json"}
    )


def _marked(folder: Folder, found: dict[str, Any]) -> dict[str, Any]:
    for run in (*found["base"], *found["new"]):
        run["directory"] = folder.name_of(folder.path / run["directory"])
    shown = quoted.marked(found, _MOST_ROWS)
    assert isinstance(shown, dict)
    return {key: each for key, each in shown.items() if key not in ("schema", "gate")}
