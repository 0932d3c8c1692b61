"""Processes pickle large messages for each other, and the loop waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import finding_verdicts, groups, lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price, of_estimate
from rlscope.analysis.source_code import source_of
from rlscope.relations.groups import SIMULATION

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/serialization"
_RECEIVES = frozenset("get get_nowait load loads read recv recv_bytes recv_pyobj".split())
_TAKES = (
    "Put observations into memory that the processes share (multiprocessing.shared_memory, "
    "AsyncVectorEnv(shared_memory=True))."
)
_SENDS = (
    "Give the processes once what does not change, as by the initializer of a pool, and share what "
    "does (multiprocessing.shared_memory)."
)
_LOADS = (
    "Make batches in this process (num_workers=0). If they take long to make, keep the workers "
    "from epoch to epoch: persistent_workers=True."
)
# What a brief message there and back costs instead, which says that the memory is ready.
_SIGNAL = Price(100_000, 0, 200_000)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {
        "process_id": loop.process_id,
        "operations": groups.paths_everywhere(trace, SIMULATION),
    }
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        sends = row["pickled_ns"] > row["peer_pickled_ns"]
        is_brief = not sends and finding_verdicts.are_messages_brief(row)
        if is_brief or not _has_messages(row, loop):
            continue
        pickled_ns = row["pickled_ns"] + row["peer_pickled_ns"]
        at = {"process_id": loop.process_id, "operation": row["operation"]}
        waiting = lines.operation_lines(trace, **at, layers=("wait",))
        running = lines.operation_lines(trace, **at, layers=("python",))
        reading = _reading(trace, waiting, running).at_least(row["pickled_ns"])
        waits = _waits(row)
        moved_ns = reading.saving_ns + waits.saving_ns
        if not finding_verdicts.are_messages_large(min(pickled_ns, moved_ns), loop.loop_ns):
            continue
        messages = row["messages"]
        how_many = f"{count(messages)} messages" if messages else "messages"
        if not waiting:  # a thread of a pool waits, and the loop for that
            waiting = lines.operation_lines(
                trace, process_id=loop.process_id, layers=("wait", "python")
            )
        waiting.sort(key=lambda line: not _receives(trace, line))
        yield Finding(
            title=f"messages between processes take {duration(moved_ns)}",
            evidence=f"Pickling takes {duration(pickled_ns)}, and the loop waits "
            f"{duration(row['wait_ns'])} for {how_many}, while their sender works "
            f"for {duration(row['work_ns'])}.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix=_LOADS if row["are_loaders"] else _SENDS if sends else _TAKES,
            no_effect="No effect where the sender has work of its own, for which the loop waits.",
            price=reading.plus(waits).less(_SIGNAL.times(messages)),
            operation=row["operation"],
            **lines.place_of(waiting),
        )


def _has_messages(row: Mapping[str, Any], loop: Loop) -> bool:
    """Whether a process sends some, or the loop waits for a thread that takes them. A program also
    pickles what it writes to a file."""
    return row["messages"] > 0 or finding_verdicts.is_saving_notable(row["wait_ns"], loop.loop_ns)


def _reading(
    trace: Trace, waiting: Sequence[Mapping[str, Any]], running: Sequence[Mapping[str, Any]]
) -> Price:
    """Python's time at lines that take messages, and wait for them: reading takes longer than
    pickling."""
    places = {(line["file"], line["line"]) for line in waiting if _receives(trace, line)}
    price = Price(0, 0, 0)
    for line in running:
        if (line["file"], line["line"]) in places:
            price = price.plus(of_estimate(line))
    return price


def _waits(row: Mapping[str, Any]) -> Price:
    """Waits for messages but for the work of who sends them."""
    waits_ns = max(row["wait_ns"] - row["work_ns"], 0)
    return Price(waits_ns, 0.7 * waits_ns, max(row["wait_ns"] - row["work_ns"] / 2, 0))


def _receives(trace: Trace, line: Mapping[str, Any]) -> bool:
    """Whether a line of the program takes a message. One that sends it waits for its reader."""
    return source_of(trace, line["file"]).calls_any(line["line"], _RECEIVES)


RULE = Rule(_find)
