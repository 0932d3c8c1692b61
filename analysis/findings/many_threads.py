"""Operators use more threads than they, or the CPUs, have work for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rlscope.amounts import duration, share
from rlscope.analysis import finding_verdicts, statement, verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Experiment, Finding, Rule
from rlscope.analysis.findings import thread_wait
from rlscope.analysis.list_code import number_given
from rlscope.analysis.prices import Price, exact
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/many_threads"
_QUICK = "findings/quick_iteration"
_SETS = "set_num_threads"
# What one thread wins of operators that have more threads than there are CPUs: with 16 on two, one
# loop took three times as long as with one thread, and another 7 % longer.
_MORE_THAN_CPUS = (0.0, 0.6, 0.9)


class _Said(NamedTuple):
    """What shows that the threads are too many, and what one thread wins."""

    title: str
    evidence: str
    price: Price


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    if thread_wait.is_interpreter_held(trace, loop):
        return  # a thread of Python takes that CPU time
    asked = {"process_id": loop.process_id}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        file, line = _place(trace, loop)
        threads = number_given(source_of(trace, file), _SETS) if file else None
        said = _crowded(trace, loop, row, threads) or _blocked(row)
        if said is None:
            continue
        yield Finding(
            title=said.title,
            evidence=f"Threads of native libraries take {duration(row['others_ns'])} of CPU time "
            f"beside {duration(row['running_ns'])} of the program's own, on {row['cores']} CPUs."
            f"{said.evidence}",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Use one thread for small operators: torch.set_num_threads(1) or "
            "OMP_NUM_THREADS=1.",
            no_effect="No effect where operators are large and the CPUs are otherwise idle.",
            experiment=_experiment(trace, loop, row, threads),
            price=said.price,
            file=file,
            line=line,
        )


def _experiment(
    trace: Trace, loop: Loop, row: Mapping[str, Any], threads: int | None
) -> Experiment | None:
    """As many threads as the program says, where it says a number."""
    asked = {"process_id": loop.process_id}
    layers = statement.run(trace, "findings/layer_call", **asked).to_dicts()
    if not layers or not layers[0]["calls"]:
        return None
    each_ns = layers[0]["duration_ns"] / layers[0]["calls"]
    settings = {"each_ns": each_ns, "threads": threads}
    return Experiment("thread_count", settings, exact(row["framework_ns"]))


def _crowded(trace: Trace, loop: Loop, row: Mapping[str, Any], threads: int | None) -> _Said | None:
    """The program lacks a CPU: a thread of an operator that has none lets all others wait. The
    quickest iterations were disturbed least. One thread gets between the part of a CPU that the
    program gets, and all of one. If the program asks for more threads than there are CPUs, they
    disturb each other in all iterations."""
    running_ns, runnable_ns = row["running_ns"], row["runnable_ns"]
    if not finding_verdicts.are_threads_crowded(running_ns, runnable_ns, row["others_ns"]):
        return None
    (times,) = statement.run(trace, _QUICK, process_id=loop.process_id).to_dicts()
    mean_ns, quick_ns = times["mean_ns"], times["quick_ns"]
    if not verdicts.are_iterations_enough(times["iterations"]) or not mean_ns:
        return None
    could_run_ns = running_ns + runnable_ns
    most = 1 - quick_ns / mean_ns
    least = max(1 - quick_ns / mean_ns * could_run_ns / running_ns, 0)
    part = least, (least + most) / 2, most
    if threads is not None and threads > (row["cores"] or threads):
        part = tuple(map(max, part, _MORE_THAN_CPUS))
    return _Said(
        "operators have several threads, and the program lacks a CPU for "
        f"{share(runnable_ns, could_run_ns)} of its time",
        f" Operators take {duration(mean_ns)} of an iteration, but {duration(quick_ns)} of one in "
        "fifty.",
        exact(row["framework_ns"]).part(*part),
    )


def _blocked(row: Mapping[str, Any]) -> _Said | None:
    blocked_ns, framework_ns = row["blocked_ns"] or 0, row["framework_ns"]
    if not finding_verdicts.are_threads_many(
        row["running_ns"], row["others_ns"], blocked_ns, framework_ns
    ):
        return None
    return _Said(
        f"operators wait for their own threads for {share(blocked_ns, framework_ns)} of their time",
        "",
        _price(row),
    )


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
    for file in statement.run(trace, "findings/own_file", pattern=_SETS)["file"]:
        line = source_of(trace, file).call_of(_SETS)
        if line is not None:
            return file, line
    rows = statement.run(
        trace, "findings/own_line", process_id=loop.process_id, operations=[]
    ).to_dicts()
    return (rows[0]["file"], rows[0]["line"]) if rows else (None, None)


RULE = Rule(_find)
