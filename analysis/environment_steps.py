"""How many steps of environments a training loop has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope.analysis import groups, statement
from rlscope.relations.groups import SIMULATION

if TYPE_CHECKING:
    from rlscope.analysis.critical_loop import Loop
    from rlscope.relations.trace import Trace


def step_count(trace: Trace, loop: Loop) -> int:
    """Of the process whose loop it is; 0: none was seen."""
    simulation = groups.paths_in(trace, loop.process_id, SIMULATION)
    asked = {"process_id": loop.process_id, "simulation": simulation}
    (row,) = statement.run(trace, "findings/step_count", **asked).to_dicts()
    return int(row["steps"] or 0)
