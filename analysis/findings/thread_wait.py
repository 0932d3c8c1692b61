"""The loop waits for a thread beside it, which holds the interpreter or a lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, lines, operations, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
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
_ENTERS = "__enter__"
Row = Mapping[str, Any]


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for kind, (what, fix, part) in _HELD.items():
        asked = {"process_id": loop.process_id, "kind": kind, "reason": "thread"}
        rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
        # What waits for an event or a queue takes a lock, too, but nobody holds that.
        rows = [row for row in rows if kind != "lock" or row["function"].endswith(_ENTERS)]
        waits, waited_ns = sum(row["main_count"] for row in rows), sum(map(_waited_ns, rows))
        if not finding_verdicts.is_thread_working(waited_ns, waits, loop.loop_ns):
            continue
        yield Finding(
            title=f"the loop waits for {what} that a thread beside it holds, for "
            f"{share(waited_ns, loop.loop_ns)} of its time",
            evidence=f"{count(waits)} waits take {duration(waited_ns)}, most of them "
            f"{operations.where(max(rows, key=_waited_ns)['operation'])}.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix=fix,
            no_effect="No effect where the loop needs what the thread computes.",
            price=Price(waited_ns, waited_ns, waited_ns).part(*part),
            **_place(trace, rows),
        )


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
