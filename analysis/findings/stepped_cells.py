"""Learning goes through a sequence with a recurrent cell, one step after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import brief_calls, groups
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions
from rlscope.analysis.independent_passes import input_needs_earlier
from rlscope.analysis.source_code import Source, source_of
from rlscope.relations.groups import LEARNING

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_CELLS = (r".*/torch/nn/modules/rnn\.py:(GRU|LSTM|RNN)Cell\.forward",)
# The backward of a cell takes about twice as long as its forward, and goes through it as often.
_WITH_BACKWARD = 3


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    learning = groups.paths_in(trace, loop.process_id, LEARNING)
    cells = of_functions(trace, loop, _CELLS, learning, _is_given_a_sequence)
    if cells is None or source_of(trace, cells.file).loop_at(cells.line) is None:
        return
    # One call for a sequence computes as much: a cell of 400 units won nothing.
    if not brief_calls.are_brief_in(trace, loop, cells.operation):
        return
    time = cells.time.times(_WITH_BACKWARD).within(loop.loop_ns)
    yield Finding(
        title="a recurrent cell is stepped through sequences in Python, which takes about "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop with its backward",
        evidence=f"{cells.readings} readings of the loop's stack lie in forwards of the cell while "
        "the program learns. Their backward is taken to be twice as long.",
        evidence_sql=cells.evidence_sql,
        fix="Give nn.LSTM, nn.GRU or nn.RNN the whole sequence, which one call goes through.",
        no_effect="No effect where a step needs what came of the one before, but for the state.",
        price=time.part(0.3, 0.7, 0.95),
        operation=cells.operation,
        file=cells.file,
        line=cells.line,
    )


def _is_given_a_sequence(source: Source, line: int) -> bool:
    """Whether a step of a line is given what is there before the loop, but for its state. One
    that imagines what comes next is given what it made."""
    return not input_needs_earlier(source, line)


RULE = Rule(_find)
