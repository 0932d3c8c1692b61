"""Processes pickle large messages for each other, and the loop waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import finding_verdicts, lines, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from rlscope.analysis.source_code import source_of
from rlscope.relations.groups import SIMULATION, group_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/serialization"
_RECEIVES = frozenset("get get_nowait load loads read recv recv_bytes recv_pyobj".split())
# What a brief message there and back costs instead, which says that the memory is ready.
_SIGNAL = Price(100_000, 0, 200_000)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    paths = statement.run(trace, "findings/operation_path")["path"]
    asked = {
        "process_id": loop.process_id,
        "operations": [path for path in paths if group_of(path) == SIMULATION],
    }
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts():
        pickled_ns = row["pickled_ns"] + row["peer_pickled_ns"]
        moved_ns = row["pickled_ns"] + max(row["wait_ns"] - row["work_ns"], 0)
        if not finding_verdicts.are_messages_large(min(pickled_ns, moved_ns), loop.loop_ns):
            continue
        most_ns = row["pickled_ns"] + max(row["wait_ns"] - row["work_ns"] / 2, 0)
        messages = row["messages"]
        found = lines.operation_lines(
            trace,
            process_id=loop.process_id,
            operation=row["operation"],
            layers=("wait",),
        )
        found.sort(key=lambda line: not _receives(trace, line))
        yield Finding(
            title=f"messages between processes take {duration(moved_ns)}",
            evidence=f"Pickling takes {duration(pickled_ns)}, and the loop waits "
            f"{duration(row['wait_ns'])} for {count(messages)} messages, while their sender works "
            f"for {duration(row['work_ns'])}.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Put observations into memory that the processes share (multiprocessing."
            "shared_memory, AsyncVectorEnv(shared_memory=True)).",
            no_effect="No effect where the sender has work of its own, for which the loop waits.",
            price=Price(moved_ns, 0.7 * moved_ns, most_ns).less(_SIGNAL.times(messages)),
            operation=None if row["operation"] == "(none)" else row["operation"],
            **lines.place_of(found),
        )


def _receives(trace: Trace, line: Mapping[str, Any]) -> bool:
    """Whether a line of the program takes a message. One that sends it waits for its reader."""
    return source_of(trace, line["file"]).calls_any(line["line"], _RECEIVES)


RULE = Rule(_find)
