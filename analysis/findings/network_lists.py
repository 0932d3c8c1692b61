"""A program asks small networks of a list one after the other, where one call could ask all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import brief_calls, learned_loops, training_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.independent_passes import calls_each
from rlscope.analysis.list_code import passes_of
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    rows = [
        row
        for row in training_lines.network_lines(trace, loop)
        if calls_each(source_of(trace, row["file"]), row["line"])
        and brief_calls.are_brief_in(trace, loop, row["operation"])
    ]
    if not rows:
        return
    forwards = training_lines.all_forwards(trace, loop)
    time = learned_loops.time_of(trace, loop, rows, forwards).within(loop.loop_ns)
    networks = passes_of(source_of(trace, rows[0]["file"]), rows[0]["line"])
    yield Finding(
        title="the program asks small networks one after the other, for "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence="The loop around the line goes through networks, and no pass needs what an "
        "earlier one made. The time has their backward and their update.",
        evidence_sql=training_lines.networks_shown(trace, loop),
        fix="Keep the weights of all in one tensor for each layer, and ask all at once: "
        "torch.baddbmm, or torch.func.stack_module_state and vmap.",
        no_effect="Little effect where the networks are large; none where their layers differ.",
        price=learned_loops.joined(time, networks),
        operation=rows[0]["operation"],
        file=rows[0]["file"],
        line=rows[0]["line"],
    )


RULE = Rule(_find)
