"""The loop sleeps: to keep a pace, or between two looks whether something is ready."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, groups, lines, operations, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.own_loops import own_loop
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import Source, name_of, source_of
from rlscope.relations.groups import SIMULATION, group_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/kind_wait"
_SLEEPS = frozenset(("sleep", "wait", "tick"))
# They come back at once, if the machine lets them.
_AT_ONCE = frozenset("empty get_nowait put_nowait recv_nowait".split())
# What runs coroutines, and waits while all of them sleep.
_RUNS = frozenset(("run", "run_forever", "run_until_complete"))
# A coroutine that looks again and again costs CPU time beside its sleep.
_OF_COROUTINES = (0.9, 1.15, 1.35)
_FUTURES = (
    "Await a future, an event or a queue, which whoever has the answer sets: then no coroutine "
    "looks again and again."
)
_FIXES = {
    False: "Do not sleep in training: keep the pace only where somebody looks on, or a robot needs "
    "it.",
    True: "Wait for what is looked for, by recv(), get(), join() or wait() without a sleep.",
}
Row = Mapping[str, Any]


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id, "kind": "sleep", "reason": "sleep"}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts()[:1]:
        if not finding_verdicts.are_readings_enough(row["count"]):
            continue
        place = _place(trace, loop, row)
        if place is None or _takes_no_time(trace, place):
            continue
        coroutine = _coroutine(trace, place)
        if coroutine is not None:
            yield _of_coroutines(loop, row, coroutine, statement.shown(_STATEMENT, **asked))
            continue
        looks = _looks_again(trace, loop, place, row["operation"])
        yield Finding(
            title=f"the loop sleeps for {share(row['wait_ns'], loop.loop_ns)} of its time",
            evidence=f"{count(row['count'])} sleeps take {duration(row['wait_ns'])} "
            f"{operations.where(row['operation'])}"
            + (", between two looks whether something is ready." if looks else "."),
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix=_FIXES[looks],
            no_effect="No effect where the loop must wait as long for something else.",
            price=_price(trace, loop, row, looks=looks),
            operation=row["operation"],
            **lines.place_of([place]),
        )


def _place(trace: Trace, loop: Loop, row: Row) -> dict[str, Any] | None:
    """The line that sleeps: of those that wait the first that says so, else the first."""
    waiting = lines.operation_lines(
        trace, process_id=loop.process_id, operation=row["operation"], layers=("wait",)
    )
    sleeping = (
        each for each in waiting if source_of(trace, each["file"]).calls_any(each["line"], _SLEEPS)
    )
    return next(sleeping, waiting[0] if waiting else None)


def _coroutine(trace: Trace, place: Row) -> tuple[str, int] | None:
    """The first line that sleeps in a `while` of a coroutine, if a line runs some: a coroutine that
    sleeps is on no stack."""
    if not source_of(trace, place["file"]).calls_any(place["line"], _RUNS):
        return None
    files = statement.run(trace, "findings/own_file", pattern=r"await .*sleep\(")["file"]
    for file in files:
        source = source_of(trace, file)
        for node in ast.walk(source.tree or ast.Module([], [])):
            if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
                if name_of(node.value.func) == "sleep" and _is_in_while(source, node.lineno):
                    return file, node.lineno
    return None


def _of_coroutines(loop: Loop, row: Row, place: tuple[str, int], sql: str) -> Finding:
    slept = Price(row["wait_ns"], row["wait_ns"], row["wait_ns"])
    return Finding(
        title=f"all coroutines sleep for {share(row['wait_ns'], loop.loop_ns)} of the loop",
        evidence=f"The loop waits for timers {count(row['count'])} times, for "
        f"{duration(row['wait_ns'])} {operations.where(row['operation'])}. The line sleeps between "
        "two looks whether something is ready.",
        evidence_sql=sql,
        fix=_FUTURES,
        no_effect="No effect where what is looked for takes as long.",
        price=slept.part(*_OF_COROUTINES).within(loop.loop_ns),
        operation=row["operation"],
        file=place[0],
        line=place[1],
    )


def _takes_no_time(trace: Trace, place: Row) -> bool:
    """Whether the line only looks once whether something is there."""
    source = source_of(trace, place["file"])
    asks = source.calls_any(place["line"], _AT_ONCE)
    return asks and not source.calls_any(place["line"], _SLEEPS)


def _looks_again(trace: Trace, loop: Loop, place: Row, operation: str) -> bool:
    """Whether the line stands in a `while` that does nothing else of the training."""
    if not _is_in_while(source_of(trace, place["file"]), place["line"]):
        return False
    asked = {"file": place["file"], "line": place["line"], "operation": operation}
    return own_loop(trace, loop, **asked) is not None


def _price(trace: Trace, loop: Loop, row: Row, *, looks: bool) -> Price:
    """All sleeps that keep a pace. Of sleeps between looks, what others do not work meanwhile."""
    slept_ns = row["wait_ns"]
    if not looks:
        return Price(slept_ns, _sure(row["operation"]) * slept_ns, slept_ns)
    asked = {
        "process_id": loop.process_id,
        "operations": groups.paths_everywhere(trace, SIMULATION),
    }
    peers = statement.run(trace, "findings/serialization", **asked).to_dicts()
    if not peers:
        return Price(slept_ns / 2, 0.1 * slept_ns, slept_ns)
    won_ns = max(slept_ns - peers[0]["work_ns"], 0)
    return Price(won_ns, 0.7 * won_ns, slept_ns)


def _sure(operation: str) -> float:
    """The part of sleeps that surely goes. An environment may sleep where a device takes time."""
    return 0.1 if group_of(operation) == SIMULATION else 0.9


def _is_in_while(source: Source, line: int) -> bool:
    """Whether the innermost loop around a line, within its function, is a `while`."""
    return source.loop_at(line) is not None and isinstance(source.innermost_loop(line), ast.While)


RULE = Rule(_find)
