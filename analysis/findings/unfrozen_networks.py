"""A backward goes through a network that another optimizer trains, and computes gradients of its
weights, which are cleared before anybody uses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import brief_calls, network_times, statement, training_lines
from rlscope.analysis.backward_networks import Backward, backward_at
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import estimate_of
from rlscope.analysis.source_code import source_of
from rlscope.analysis.trained_networks import LINES, Optimizers

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What a backward computes of a layer are two products of the same size: one for its weights, and
# one for what it was given.
_OF_WEIGHTS = 0.5
# Where calls cost more than their work, the rest of a backward hardly gets shorter, and to freeze
# takes a call for each weight: 7 % was promised, and nothing won.
_OF_BRIEF = (0.0, 0.4, 1.0)
# How far the parts may be off, with the times of the forwards and without.
_KNOWN = (0.75, 1.0, 1.2)
_COUNTED = (0.6, 1.0, 1.5)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    rows = training_lines.backward_lines(trace, loop)
    files = statement.run(trace, "findings/own_file", pattern=LINES)["file"] if rows else ()
    trees = [source_of(trace, file).tree for file in files]
    optimizers = Optimizers([tree for tree in trees if tree is not None])
    for row in rows:
        backward = backward_at(optimizers, source_of(trace, row["file"]), row["line"])
        if backward is None:
            continue
        time = estimate_of([{**row, "own_ns": row["total_ns"]}])
        price = time.times(_OF_WEIGHTS).part(*_part(trace, loop, row["file"], backward))
        if brief_calls.are_brief_in(trace, loop, row["operation"]):
            price = price.part(*_OF_BRIEF)
        names = " and ".join(backward.names)
        yield Finding(
            title=f"the backward of {backward.loss} also computes gradients of the weights of "
            f"{names}, which nobody uses",
            evidence=f"It takes {share(row['total_ns'], loop.loop_ns)} of the loop. Another "
            f"optimizer trains {names}, and clears these gradients before.",
            evidence_sql=training_lines.backwards_shown(trace, loop),
            fix=f"Call requires_grad_(False) of {names} before that loss is computed, and "
            "requires_grad_(True) after the backward.",
            no_effect="No effect where the networks share layers: there, freezing takes away "
            "gradients that are needed.",
            price=price,
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )


def _part(trace: Trace, loop: Loop, file: str, backward: Backward) -> tuple[float, float, float]:
    """The part of the backward that goes through the unfrozen networks: that of their forwards, or
    if these are not known that of their number."""
    sizes = network_times.of_backward(trace, loop, file, backward)
    if sizes is not None:
        part, ends = sizes, _KNOWN
    else:
        unfrozen = len(backward.unfrozen)
        part, ends = unfrozen / (unfrozen + len(backward.trained)), _COUNTED
    low, value, high = (part * each for each in ends)
    return low, value, min(high, 1 / _OF_WEIGHTS)


RULE = Rule(_find, of_lines=True)
