"""Inference calls the network several times in a row, where one call could take all inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count
from rlscope.analysis import finding_verdicts, groups, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import NETWORKS, of_functions
from rlscope.analysis.prices import exact
from rlscope.analysis.source_code import own_loop

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/repeated_call"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    operations = groups.paths_in(trace, loop.process_id, "inference")
    found = of_functions(trace, loop, NETWORKS, operations)
    if found is None:
        return
    # The loop around the call of the whole network: layers inside are called in turn anyway.
    place = own_loop(trace, loop, file=found.file, line=found.line, operation=found.operation)
    if place is None:
        return
    asked = {"process_id": loop.process_id, "operations": [found.operation]}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    calls = _calls_in_a_row(rows)
    if not finding_verdicts.is_called_in_a_row(calls):
        return
    rest = 1 - 1 / calls
    yield Finding(
        title=f"inference calls the network {calls:.0f} times in a row",
        evidence=f"{count(rows[0]['calls'])} calls of {rows[0]['function']} in "
        f"{count(rows[0]['entries'])} entries into {found.operation}, from a loop of the program.",
        evidence_sql=statement.shown(_STATEMENT, **asked),
        fix="Put the inputs into one batch and call the network once.",
        no_effect="Little effect where the network is so large that its arithmetic takes the time.",
        price=exact(rows[0]["operation_ns"]).part(0.75 * rest, 0.9 * rest, rest),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


def _calls_in_a_row(rows: Sequence[Mapping[str, Any]]) -> float:
    """How often an entry calls the functions that take half of the time, at least."""
    half_ns = sum(row["duration_ns"] for row in rows) / 2
    fewest, passed_ns = float("inf"), 0
    for row in rows:
        fewest = min(fewest, row["calls"] / max(row["entries"], 1))
        passed_ns += row["duration_ns"]
        if passed_ns >= half_ns:
            break
    return 0.0 if not rows else fewest


RULE = Rule(_find)
