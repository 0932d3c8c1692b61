"""The loop waits for a thread beside it, which holds the interpreter or a lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, lines, operations, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.polling_code import asking_lines
from rlscope.analysis.prices import Price, exact
from rlscope.analysis.source_code import source_of
from rlscope.analysis.thread_code import line_in_thread

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/kind_wait"
# What a thread holds: how that is said, how to mend it, and the part of the waits that this wins.
_HELD = {
    "gil": (
        "the interpreter",
        "Let the thread do its work in a process of its own, or once in many steps; what it "
        "computes in Python stops the loop.",
        (0.8, 1.0, 1.0),
    ),
    "lock": (
        "a lock",
        "Let the thread hold the lock only while it copies what it needs, and work without it.",
        (0.3, 0.9, 1.0),
    ),
}
_ASKS_AGAIN = (
    "Let the thread wait in get() of its queue, or for an event: it asks again and again whether "
    "something is there, and holds the interpreter meanwhile."
)
_ENTERS = "__enter__"
Row = Mapping[str, Any]


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for kind, (what, fix, part) in _HELD.items():
        rows = _rows(trace, loop, kind)
        if not _is_held(rows, loop):
            continue
        waits, waited_ns = sum(row["main_count"] for row in rows), sum(map(_waited_ns, rows))
        place, lacked = _place(trace, rows), exact(0)
        if kind == "gil":
            lacked = _crowded(trace, loop, waited_ns)
        if _asks_again(trace, place):
            fix = _ASKS_AGAIN
        yield Finding(
            title=f"the loop waits for {what} that a thread beside it holds, for "
            f"{share(waited_ns, loop.loop_ns)} of its time",
            evidence=f"{count(waits)} waits take {duration(waited_ns)}, most of them "
            f"{operations.where(max(rows, key=_waited_ns)['operation'])}.{_lacks(lacked)}",
            evidence_sql=statement.shown(_STATEMENT, **_asked(loop, kind)),
            fix=fix,
            no_effect="No effect where the loop needs what the thread computes.",
            price=exact(waited_ns).part(*part).plus(lacked).within(loop.loop_ns),
            **place,
        )


def is_interpreter_held(trace: Trace, loop: Loop) -> bool:
    """Whether a thread beside the loop works in Python, so that the loop waits for it."""
    return _is_held(_rows(trace, loop, "gil"), loop)


def _asked(loop: Loop, kind: str) -> dict[str, Any]:
    return {"process_id": loop.process_id, "kind": kind, "reason": "thread"}


def _rows(trace: Trace, loop: Loop, kind: str) -> list[dict[str, Any]]:
    """Waits for what a thread holds. What waits for an event or a queue takes a lock, too, but
    nobody holds that."""
    rows = statement.run(trace, _STATEMENT, **_asked(loop, kind)).to_dicts()
    return [row for row in rows if kind != "lock" or row["function"].endswith(_ENTERS)]


def _is_held(rows: Sequence[Row], loop: Loop) -> bool:
    waits, waited_ns = sum(row["main_count"] for row in rows), sum(map(_waited_ns, rows))
    return finding_verdicts.is_thread_working(waited_ns, waits, loop.loop_ns)


def _crowded(trace: Trace, loop: Loop, waited_ns: int) -> Price:
    """In which the loop has the interpreter and no CPU, because the thread works on in native code
    or waits for the interpreter itself: at most the rest of the thread's CPU time."""
    asked = {"process_id": loop.process_id}
    rows = statement.run(trace, "findings/many_threads", **asked).to_dicts()
    found = (min(row["runnable_ns"], row["others_ns"] - waited_ns) for row in rows)
    found_ns = max([0, *found])
    return Price(found_ns, 0, found_ns)


def _lacks(lacked: Price) -> str:
    if not lacked.saving_ns:
        return ""
    return f" For {duration(lacked.saving_ns)} more, the loop may lack the CPU that the thread has."


def _asks_again(trace: Trace, place: Mapping[str, Any]) -> bool:
    """Whether the thread's loop runs until something is ready, in place of a wait."""
    if place.get("file") is None:
        return False
    return bool(asking_lines(source_of(trace, place["file"]), place["line"]))


def _waited_ns(row: Row) -> int:
    return int(row["main_ns"])


def _place(trace: Trace, rows: Sequence[Row]) -> dict[str, Any]:
    """What the thread runs, as far as the program's text says it; else where the loop waits. Stacks
    are those of the loop only."""
    for file in statement.run(trace, "kept_file")["file"]:
        line = line_in_thread(source_of(trace, file))
        if line is not None:
            return {"file": file, "line": line}
    waiting = [dict(row) for row in rows if row["file"] is not None]
    return lines.place_of(sorted(waiting, key=_waited_ns, reverse=True))


RULE = Rule(_find)
