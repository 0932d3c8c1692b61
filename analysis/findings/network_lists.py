"""A program asks small networks of a list one after the other, where one call could ask all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import brief_calls, learned_loops, statement, training_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.independent_passes import calls_each
from rlscope.analysis.list_code import passes_of
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_PAIR = 2
_NORMALISES = re.compile(r"(layer|group|batch)_norm")


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
    price = learned_loops.joined(time, networks)
    if _are_few(trace, loop, rows[0]["operation"], networks):
        price = price.part(0, 1, 1)
    yield Finding(
        title="the program asks small networks one after the other, for "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence="The loop around the line goes through networks, and no pass needs what an "
        "earlier one made. The time has their backward and their update.",
        evidence_sql=training_lines.networks_shown(trace, loop),
        fix="Keep the weights of all in one tensor for each layer, and ask all at once: "
        "torch.baddbmm, or torch.func.stack_module_state and vmap.",
        no_effect="Little effect where the networks are large, and for two that normalise their "
        "layers; none where the layers differ.",
        price=price,
        operation=rows[0]["operation"],
        file=rows[0]["file"],
        line=rows[0]["line"],
    )


def _are_few(trace: Trace, loop: Loop, operation: str, networks: int | None) -> bool:
    """Whether they are two that normalise their layers: PyTorch has no call that does so for
    several. If the text does not say how many there are, an entry asks one more at most."""
    asked = brief_calls.asked(trace, loop, operation)
    rows = statement.run(trace, brief_calls.STATEMENT, **asked).to_dicts()
    if not any(_NORMALISES.search(row["function"]) for row in rows):
        return False
    return networks == _PAIR or (networks is None and brief_calls.in_a_row(rows) <= _PAIR + 1)


RULE = Rule(_find)
