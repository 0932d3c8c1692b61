"""Copies to the GPU block the loop, because they are of pageable memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.gpu_waits import GpuState, cuda_lines, gpu_states, hidden, seen_part
from rlscope.analysis.prices import Price

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/pageable_copy"
_COPIES = re.compile(
    r"\.(to|cuda|copy_|as_tensor|tensor|device_put|asarray|array|set)\(|\b(tensor|to_device)\(|Memcpy"
)
# What a copy of pinned memory costs its caller, and how long the host takes to fill that memory.
_CALL_NS = 6_000
_BYTES_PER_NS = 8
# What a copy of pageable memory takes at most while the GPU is idle. A longer call had no CPU.
_LONGEST_CALL_NS = 30_000
_LONGEST_BYTE_NS = 1


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    rows = {row["operation"]: row for row in statement.run(trace, _STATEMENT, **asked).to_dicts()}
    seen, uncertainty = seen_part(trace, loop)
    for state in gpu_states(trace, loop):
        row = rows.get(state.operation)
        if state.reason != "copy" or row is None:
            continue
        if not finding_verdicts.is_copy_notable(state.duration_ns, loop.loop_ns):
            continue
        yield Finding(
            title=f"copies of pageable memory to the GPU block the loop for "
            f"{share(state.duration_ns, loop.loop_ns)} of its time",
            evidence=f"{count(row['copies'])} copies of {count(row['bytes'])} bytes, "
            f"{duration(state.duration_ns / row['copies'])} each.{seen}",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Keep what is copied in pinned memory (pin_memory()), and copy it with "
            "non_blocking=True.",
            no_effect="No effect where each batch is pinned anew, or where the GPU has a queue of "
            "work.",
            price=_price(trace, loop, state, row, uncertainty),
            operation=state.operation,
            **lines.place_of(cuda_lines(trace, loop, operation=state.operation, pattern=_COPIES)),
        )


def _price(
    trace: Trace, loop: Loop, state: GpuState, row: dict[str, Any], uncertainty: float
) -> Price:
    """The calls while the GPU is idle, and of their waits for it what the loop would not make up
    for later. A copy of pinned memory costs a call, and the host fills that memory."""
    left_ns = row["copies"] * _CALL_NS + row["bytes"] / _BYTES_PER_NS
    longest_ns = row["copies"] * _LONGEST_CALL_NS + row["bytes"] * _LONGEST_BYTE_NS
    idle_ns = min(state.idle_ns, longest_ns)
    idle = Price(idle_ns, 0.8 * (1 - uncertainty) * idle_ns, (1 + uncertainty) * idle_ns)
    waits = hidden(trace, loop, [state.operation], "copy")
    return idle.plus(waits).less(Price(left_ns, left_ns / 2, 2 * left_ns))


RULE = Rule(_find)
