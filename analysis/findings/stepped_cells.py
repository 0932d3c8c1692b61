"""Learning goes through a sequence with a recurrent cell, one step after the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import brief_calls, finding_verdicts, groups, statement, training_lines
from rlscope.analysis.critical_loop import Loop, time_in
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import FunctionTime, of_functions
from rlscope.analysis.independent_passes import input_needs_earlier
from rlscope.analysis.own_loops import callers
from rlscope.analysis.source_code import Source, source_of
from rlscope.relations.groups import LEARNING

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_CELLS = (r".*/torch/nn/modules/rnn\.py:(GRU|LSTM|RNN)Cell\.forward",)
_LAYERS = (r".*/torch/nn/modules/rnn\.py:(GRU|LSTM|RNN)\.forward",)
_SEQUENCES = re.compile(r":(gru|lstm|rnn_tanh|rnn_relu)$")
_WITH_STATE = 2  # arguments
# The backward of a cell takes about twice as long as its forward, and goes through it as often.
_WITH_BACKWARD = 3


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    learning = groups.paths_in(trace, loop.process_id, LEARNING)
    found = of_functions(trace, loop, _CELLS, learning, _is_given_a_sequence)
    if found is None or source_of(trace, found.file).loop_at(found.line) is None:
        found = _layer(trace, loop, learning)
    # One call for a sequence computes as much: a cell of 400 units won nothing.
    if found is None or not brief_calls.are_brief_in(trace, loop, found.operation):
        return
    time = found.time.times(_WITH_BACKWARD).within(time_in(trace, loop, learning))
    yield Finding(
        title="a recurrent cell is stepped through sequences in Python, which takes about "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop with its backward",
        evidence=f"{found.readings} readings of the loop's stack lie in forwards of the cell while "
        "the program learns. Their backward is taken to be twice as long.",
        evidence_sql=found.evidence_sql,
        fix="Give nn.LSTM, nn.GRU or nn.RNN the whole sequence, which one call goes through.",
        no_effect="No effect where a step needs what came of the one before, but for the state.",
        price=time.part(0.3, 0.7, 0.95),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


def _layer(trace: Trace, loop: Loop, learning: Sequence[str]) -> FunctionTime | None:
    """Steps of a layer that could be given a sequence, at the line of the loop around them, with
    what else that calls: embeddings and heads take sequences, too."""
    found = of_functions(trace, loop, _LAYERS, learning, _is_given_a_sequence)
    if found is None or not _is_stepped(trace, loop, found.operation):
        return None
    for file, line in callers(trace, loop, found.file, found.line, found.operation):
        source = source_of(trace, file)
        if source.loop_at(line) is not None:
            if not _is_given_a_sequence(source, line):
                return None
            at = {"file": file, "line": line, "operation": found.operation}
            whole_ns = training_lines.whole_ns(trace, loop, at)
            time = found.time.times(max(whole_ns / found.time.saving_ns, 1))
            return replace(found, time=time, file=file, line=line)
    return None


def _is_stepped(trace: Trace, loop: Loop, operation: str) -> bool:
    asked = {"process_id": loop.process_id, "operations": [operation], "apart": []}
    rows = statement.run(trace, brief_calls.STATEMENT, **asked).to_dicts()
    layers = (row for row in rows if _SEQUENCES.search(row["function"]))
    return any(map(finding_verdicts.is_called_in_passes, layers))


def _is_given_a_sequence(source: Source, line: int) -> bool:
    """Whether a step of a line is given what is there before the loop, but for its state. One
    that imagines what comes next is given what it made; one whose state is computed, as where an
    episode ends, needs a call for each part."""
    states = (
        call.args[1]
        for call in source.around(line)
        if isinstance(call, ast.Call) and len(call.args) == _WITH_STATE
    )
    computes = any(isinstance(part, ast.BinOp) for each in states for part in ast.walk(each))
    return not computes and not input_needs_earlier(source, line)


RULE = Rule(_find)
