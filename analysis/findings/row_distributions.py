"""A program makes or asks a distribution of PyTorch for each row, or for each part of an action,
where one could take all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from statistics import median_low
from typing import TYPE_CHECKING

from rlscope.amounts import count, share
from rlscope.analysis import brief_calls, finding_verdicts, learned_loops, statement, training_lines
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
# What distributions of PyTorch call once for each question, or as they are made.
_ASKS = re.compile(r"torch.*[:.](bernoulli|logsumexp|multinomial|normal)")
# Passes from which on one distribution of all is worth its text.
_FEWEST = 4
_WHAT = {True: "a distribution for one row", False: "one distribution"}


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = training_lines.asked(trace, loop, _DISTRIBUTIONS, acting=True)
    networks = training_lines.forward_lines(trace, loop)
    leading = {(row["file"], row["line"]) for row in networks}
    rows = [
        row
        for row in training_lines.direct(rows_of_calls(trace, _STATEMENT, **asked))
        if _is_of_rows(source := source_of(trace, row["file"]), row["line"])
        and not ((row["file"], row["line"]) in leading and _calls_networks(source, row["line"]))
        and _passes(trace, loop, row["operation"]) >= _FEWEST
    ]
    if not rows:
        return
    forwards = [*rows, *training_lines.direct(networks)]
    time = learned_loops.time_of(trace, loop, rows, forwards).within(loop.loop_ns)
    often = _passes(trace, loop, rows[0]["operation"])
    are_rows = often >= finding_verdicts.LOOPED_CALLS
    yield Finding(
        title=f"the program asks {_WHAT[are_rows]} after the other, for "
        f"{share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"The line stands in a loop of some {count(round(often))} passes, none of which "
        "needs what an earlier one made. The time has the loop's part of backwards and updates.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Make one distribution of the parameters of all, and ask it once: sample, log_prob and "
        "entropy give a value for each.",
        no_effect="Little effect where the loop goes through a few distributions of different "
        "kinds.",
        # What makes the distributions, and frees them, is beside.
        price=time.part(0.6, 1.0, 1.25) if are_rows else learned_loops.joined(time, often),
        operation=rows[0]["operation"],
        file=rows[0]["file"],
        line=rows[0]["line"],
    )


def _passes(trace: Trace, loop: Loop, operation: str) -> float:
    """How often an entry asks a distribution: as often as it calls what only these do. If it calls
    none of that, the median of the functions that it calls briefly and more than once. 0: it calls
    none."""
    of = {"process_id": loop.process_id, "operations": [operation], "apart": []}
    rows = statement.run(trace, brief_calls.STATEMENT, **of).to_dicts()
    asked = [row for row in rows if _ASKS.fullmatch(row["function"])]
    if asked:
        return max(float(row["calls"] / row["entries"]) for row in asked)
    often = [row["calls"] / row["entries"] for row in rows if finding_verdicts.is_repeated(row)]
    return median_low(often) if often else 0.0


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
