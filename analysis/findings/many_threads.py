"""Operators use more threads than they, or the CPUs, have work for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration, share
from rlscope.analysis import finding_verdicts, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Experiment, Finding, Rule
from rlscope.analysis.prices import Price, exact
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/many_threads"


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        blocked_ns, others_ns = row["blocked_ns"], row["others_ns"]
        if not finding_verdicts.are_threads_many(
            row["running_ns"], others_ns, blocked_ns or 0, row["framework_ns"]
        ):
            continue
        file, line = _place(trace, loop)
        yield Finding(
            title="operators wait for their own threads for "
            f"{share(blocked_ns, row['framework_ns'])} of their time",
            evidence=f"Threads of native libraries take {duration(others_ns)} of CPU time beside "
            f"{duration(row['running_ns'])} of the program's own, on {row['cores']} CPUs.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Use one thread for small operators: torch.set_num_threads(1) or "
            "OMP_NUM_THREADS=1.",
            no_effect="No effect where operators are large and the CPUs are otherwise idle.",
            experiment=_experiment(trace, loop, row, file),
            price=_price(row),
            file=file,
            line=line,
        )


def _experiment(
    trace: Trace, loop: Loop, row: Mapping[str, Any], file: str | None
) -> Experiment | None:
    """As many threads as the program says, where it says a number."""
    asked = {"process_id": loop.process_id}
    layers = statement.run(trace, "findings/layer_call", **asked).to_dicts()
    if not layers or not layers[0]["calls"]:
        return None
    threads = source_of(trace, file).number_given("set_num_threads") if file else None
    each_ns = layers[0]["duration_ns"] / layers[0]["calls"]
    settings = {"each_ns": each_ns, "threads": threads}
    return Experiment("thread_count", settings, exact(row["framework_ns"]))


def _price(row: Mapping[str, Any]) -> Price:
    """One thread waits for no other, but does their work, too: between a quarter of the waits and
    all of them. Where operators wait for most of their time, little of it is work. At most one
    thread also wins back the CPU time that the others take from it."""
    blocked_ns = row["blocked_ns"]
    least_ns = max(blocked_ns - math.sqrt(row["below_ns2"]), 0)
    most_ns = min(max(blocked_ns, row["others_ns"]), row["framework_ns"])
    is_most = verdicts.is_most(blocked_ns, row["framework_ns"])
    return Price(blocked_ns if is_most else blocked_ns / 2, least_ns / 4, most_ns)


def _place(trace: Trace, loop: Loop) -> tuple[str | None, int | None]:
    """Where the program says how many threads; else its line with most time."""
    rows = statement.run(
        trace, "findings/own_line", process_id=loop.process_id, operations=[]
    ).to_dicts()
    for file in dict.fromkeys(row["file"] for row in rows):
        line = source_of(trace, file).call_of("set_num_threads")
        if line is not None:
            return file, line
    return (rows[0]["file"], rows[0]["line"]) if rows else (None, None)


RULE = Rule(_find)
