"""Memory of the GPU is given back and taken anew in each step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.gpu_waits import cuda_lines
from rlscope.analysis.prices import exact

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/device_memory"
# How a line looks that gives memory back.
_MEMORY = re.compile(r"empty_cache|free|Free")


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    given = sum(row["given"] for row in rows)
    if not finding_verdicts.is_memory_given_back(given, loop.iterations):
        return
    calls, loop_ns = sum(row["calls"] for row in rows), sum(row["loop_ns"] for row in rows)
    operation = rows[0]["operation"]
    yield Finding(
        title=f"getting memory of the GPU and giving it back takes {share(loop_ns, loop.loop_ns)} "
        "of the loop",
        evidence=f"{count(calls)} calls take {duration(loop_ns)}; {count(given)} of them give "
        f"memory back, in {count(loop.iterations)} iterations.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Keep buffers from step to step, and do not call torch.cuda.empty_cache() in the loop.",
        no_effect="No effect where the memory is too small to keep them.",
        price=exact(loop_ns).part(0.8, 0.95, 1.0),
        operation=operation,
        **lines.place_of(cuda_lines(trace, loop, operation=operation, pattern=_MEMORY)),
    )


RULE = Rule(_find)
