"""Learning calls a network in each pass of a loop, where one call could take the inputs of all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import brief_calls, training_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.independent_passes import could_be_one_call, gives_one
from rlscope.analysis.source_code import source_of
from rlscope.analysis.training_lines import Row

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# A module that steps a cell may keep its state from call to call.
_CELLS = (r".*/torch/nn/modules/rnn\.py:\w*Cell\.forward",)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    stepped = training_lines.lines_to(trace, loop, _CELLS)
    rows = [
        row
        for row in training_lines.direct(training_lines.forward_lines(trace, loop))
        if (row["file"], row["line"]) not in stepped
        and could_be_one_call(source_of(trace, row["file"]), row["line"])
        and _are_calls_small(trace, loop, row)
    ]
    if not rows:
        return
    time = training_lines.time_with_backward(trace, rows).within(loop.loop_ns)
    yield Finding(
        title="learning calls a network for one input after the other, for "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence="The line stands in a loop of which no pass needs what an earlier one made. "
        "The time has the backward of what has one, taken to be twice as long as its forward.",
        evidence_sql=training_lines.shown(trace, loop),
        fix="Put the inputs of all passes into one batch, and call the network once.",
        no_effect="Little effect where the network is large. Other numbers where it keeps a state "
        "from call to call, or normalises over the batch.",
        price=time.part(0.5, 0.8, 0.95),
        operation=rows[0]["operation"],
        file=rows[0]["file"],
        line=rows[0]["line"],
    )


def _are_calls_small(trace: Trace, loop: Loop, row: Row) -> bool:
    """Whether each call takes as long as many, because most of it is the way to the operators."""
    if gives_one(source_of(trace, row["file"]), row["line"]):
        return True
    return brief_calls.are_brief_in(trace, loop, row["operation"])


RULE = Rule(_find)
