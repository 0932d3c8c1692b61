"""Learning calls a network in each pass of a loop, where one call could take the inputs of all."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import batchable_lines, brief_calls, training_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.independent_passes import could_be_one_call, gives_one, needs_earlier
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import Source, source_of
from rlscope.analysis.training_lines import Row

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# A module that steps a cell may keep its state from call to call.
_CELLS = (r".*/torch/nn/modules/rnn\.py:\w*Cell\.forward",)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    forwards = training_lines.forward_lines(trace, loop)
    found = _direct(trace, loop, forwards) or _around(trace, loop, forwards)
    if found is None:
        return
    row, time = found
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
        operation=row["operation"],
        file=row["file"],
        line=row["line"],
    )


def _direct(trace: Trace, loop: Loop, forwards: Sequence[Row]) -> tuple[Row, Price] | None:
    """Lines that call a network themselves: the first, and the time of all."""
    stepped = training_lines.lines_to(trace, loop, _CELLS)
    rows = [
        row
        for row in training_lines.direct(forwards)
        if (row["file"], row["line"]) not in stepped
        and could_be_one_call(source_of(trace, row["file"]), row["line"])
        and _are_calls_small(trace, loop, row)
    ]
    if not rows:
        return None
    return rows[0], training_lines.time_with_backward(trace, rows).within(loop.loop_ns)


def _around(trace: Trace, loop: Loop, forwards: Sequence[Row]) -> tuple[Row, Price] | None:
    """The line nearest to most calls of the networks of an operation, in a loop whose passes could
    be one call: [dream(start) for start in starts]. In dream, each call needs the one before."""
    direct = training_lines.direct(forwards)
    sources = [(source_of(trace, row["file"]), row["line"]) for row in direct]
    is_rolled_out = any(_is_rolled_out(*each) for each in sources)
    keeps_nothing = bool(sources) and all(_keeps_nothing(*each) for each in sources)
    if not is_rolled_out and not keeps_nothing:
        return None  # what the line calls may keep a state
    row = batchable_lines.nearest(trace, loop, [row for row in forwards if row not in direct])
    if row is None or not brief_calls.are_brief_in(trace, loop, row["operation"]):
        return None
    time = training_lines.time_of([row])
    time = time.times(training_lines.whole_ns(trace, loop, row) / row["total_ns"])
    return row, time.within(loop.loop_ns)


def _keeps_nothing(source: Source, line: int) -> bool:
    """Whether the function around a line sets only variables of its own, in no loop."""
    function = source.function_node(line)
    if function is None or source.loop_at(line) is not None:
        return False
    targets = (
        target
        for node in ast.walk(function)
        for target in (*getattr(node, "targets", ()), getattr(node, "target", None))
    )
    return not any(
        isinstance(part, (ast.Attribute, ast.Subscript))
        for target in targets
        if isinstance(target, ast.AST)
        for part in ast.walk(target)
    )


def _is_rolled_out(source: Source, line: int) -> bool:
    """Whether a line feeds a network what it gave before, in variables of its function."""
    return source.is_chain(line) or needs_earlier(source, line)


def _are_calls_small(trace: Trace, loop: Loop, row: Row) -> bool:
    """Whether each call takes as long as many, because most of it is the way to the operators."""
    if gives_one(source_of(trace, row["file"]), row["line"]):
        return True
    return brief_calls.are_brief_in(trace, loop, row["operation"])


RULE = Rule(_find)
