"""Learning asks small networks of a list one after the other, where one call could ask all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import brief_calls, finding_verdicts, training_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.independent_passes import calls_each
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import source_of
from rlscope.analysis.training_lines import Row, time_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    forwards = _direct(training_lines.forward_lines(trace, loop))
    rows = [
        row
        for row in forwards
        if calls_each(source_of(trace, row["file"]), row["line"])
        and brief_calls.are_brief_in(trace, loop, row["operation"])
    ]
    if not rows:
        return
    time = _time(trace, loop, rows, forwards).within(loop.loop_ns)
    yield Finding(
        title="learning asks small networks one after the other, for "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence="The loop around the line goes through networks, and no pass needs what an "
        "earlier one made. The time has their backward.",
        evidence_sql=training_lines.shown(trace, loop),
        fix="Keep the weights of all in one tensor for each layer, and ask all at once: "
        "torch.baddbmm, or torch.func.stack_module_state and vmap.",
        no_effect="Little effect where the networks are large, or only two; none where their "
        "layers differ.",
        # Half of it where there are two, and nearly all where there are many.
        price=time.part(0.4, 0.85, 1.0),
        operation=rows[0]["operation"],
        file=rows[0]["file"],
        line=rows[0]["line"],
    )


def _direct(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if finding_verdicts.is_direct_caller(row["distance"])]


def _time(trace: Trace, loop: Loop, rows: Sequence[Row], forwards: Sequence[Row]) -> Price:
    """Of the lines, and of their part of the backwards."""
    time = Price(0, 0, 0)
    for row in rows:
        whole = training_lines.whole_ns(trace, loop, row) / row["total_ns"]
        time = time.plus(time_of([row]).times(whole))
    learned_ns, all_ns = (
        sum(row["total_ns"] for row in some if training_lines.has_backward(trace, row))
        for some in (rows, forwards)
    )
    backwards = _direct(training_lines.backward_lines(trace, loop))
    if learned_ns and backwards:
        time = time.plus(time_of(backwards).times(learned_ns / all_ns))
    return time


RULE = Rule(_find)
