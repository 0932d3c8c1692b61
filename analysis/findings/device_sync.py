"""Each step waits for the GPU: .item(), .cpu(), nonzero(), synchronize()."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from rlscope.amounts import duration, share
from rlscope.analysis import finding_verdicts, lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.gpu_waits import cuda_lines, gpu_states, hidden, seen_part
from rlscope.relations.groups import INFERENCE, SIMULATION, group_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# How a line looks that waits for a GPU, in PyTorch, JAX and CuPy.
_WAITS = re.compile(
    r"\.(item|cpu|tolist|numpy|nonzero|synchronize|wait|query|get|block_until_ready)\("
    r"|\b(int|float|bool|print|nonzero|unique|masked_select|asarray|synchronize)\("
    r"|\.to\(.*cpu|Synchronize|Memcpy"
)
# The environment needs the action of each step: a wait for it stays.
_NEEDED = (INFERENCE, SIMULATION)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    states = gpu_states(trace, loop)
    seen, _ = seen_part(trace, loop)
    waits = [
        state
        for state in states
        if state.reason == "synchronisation" and group_of(state.operation) not in _NEEDED
    ]
    waits.sort(key=lambda state: group_of(state.operation))
    for _, of_group in groupby(waits, key=lambda state: group_of(state.operation)):
        found = sorted(of_group, key=lambda state: -state.duration_ns)
        busy_ns = sum(state.busy_ns for state in found)
        idle_ns = sum(state.idle_ns for state in states)
        if not finding_verdicts.is_gpu_waited_for(busy_ns, idle_ns, loop.loop_ns):
            continue
        operations = [state.operation for state in found]
        price = hidden(trace, loop, operations, "synchronisation")
        if not finding_verdicts.is_wait_avoidable(price.saving_ns, busy_ns):
            continue
        yield Finding(
            title=f"the loop waits for the GPU for {share(busy_ns, loop.loop_ns)} of its time, and "
            "the GPU for the loop afterwards",
            evidence=f"In {', '.join(operations[:3])}, calls wait {duration(busy_ns)} for work of "
            f"the GPU. In all, it is idle for {duration(idle_ns)} of the loop. The price is the "
            f"part of the waits that the loop would not have to make up for later.{seen}",
            evidence_sql=statement.shown("findings/gpu_state", process_id=loop.process_id),
            fix="Keep values such as losses on the GPU, add them up there, and read them once in "
            "many steps.",
            no_effect="No effect where the GPU has a queue of work, because the loop then waits "
            "for it anyway.",
            price=price,
            operation=operations[0],
            **lines.place_of(cuda_lines(trace, loop, operation=operations[0], pattern=_WAITS)),
        )


RULE = Rule(_find)
