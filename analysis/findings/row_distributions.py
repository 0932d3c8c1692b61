"""Learning makes or asks a distribution of PyTorch for each row, where one could take all rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis import brief_calls, learned_loops, statement, training_lines
from rlscope.analysis.called_functions import rows_of_calls
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.independent_passes import (
    calls_each,
    could_be_one_call,
    loop_of_passes,
    needs_earlier,
)
from rlscope.analysis.source_code import Source, looped_names, source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_DISTRIBUTIONS = (r".*/torch/distributions/.*",)
_STATEMENT = "findings/calling_line"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = training_lines.asked(trace, loop, _DISTRIBUTIONS)
    networks = training_lines.forward_lines(trace, loop)
    leading = {(row["file"], row["line"]) for row in networks}
    rows = [
        row
        for row in training_lines.direct(rows_of_calls(trace, _STATEMENT, **asked))
        if _is_of_rows(source := source_of(trace, row["file"]), row["line"])
        and not ((row["file"], row["line"]) in leading and _calls_networks(source, row["line"]))
        and brief_calls.are_many_in(trace, loop, row["operation"])
    ]
    if not rows:
        return
    forwards = [*rows, *training_lines.direct(networks)]
    time = learned_loops.time_of(trace, loop, rows, forwards).within(loop.loop_ns)
    yield Finding(
        title="learning asks a distribution for one row after the other, for "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence="The line stands in a loop of which no pass needs what an earlier one made. "
        "The time has the loop's part of backwards and updates.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Make one distribution of the parameters of all rows, and ask it once: log_prob and "
        "entropy give a value for each row.",
        no_effect="Little effect where the loop goes through a few distributions of different "
        "kinds.",
        # What makes the distributions, and frees them, is beside.
        price=time.part(0.6, 1.0, 1.25),
        operation=rows[0]["operation"],
        file=rows[0]["file"],
        line=rows[0]["line"],
    )


def _is_of_rows(source: Source, line: int) -> bool:
    """Whether a line asks what its loop goes through, and no pass needs an earlier one."""
    loop = loop_of_passes(source, line)
    if loop is None or needs_earlier(source, line):
        return False
    calls = (node for node in ast.walk(loop) if isinstance(node, ast.Call) and node.lineno == line)
    used = {node.id for call in calls for node in ast.walk(call) if isinstance(node, ast.Name)}
    return not used.isdisjoint(looped_names(loop))


def _calls_networks(source: Source, line: int) -> bool:
    """Whether the loop around a line that leads to networks calls them: another rule's."""
    return could_be_one_call(source, line) or calls_each(source, line)


RULE = Rule(_find)
