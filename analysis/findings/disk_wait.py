"""The loop waits for a disk, again and again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rlscope.amounts import count, duration, share
from rlscope.analysis import finding_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.findings import machine_readings
from rlscope.analysis.function_time import of_functions, written_beside
from rlscope.analysis.prices import Price

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/kind_wait"
# By how much longer the code after a wait takes: it finds the caches cold, and the CPU asleep.
# After waits that are shorter than this, that is less.
_WAKING = Price(25_000, 0, 50_000)
_LONG_NS = 250_000
# Functions that wait for what a file holds.
_READS = re.compile(r".*[.:](p?read(all|v|1|line|lines)?|readinto1?)")


class _Words(NamedTuple):
    title: str
    fix: str
    no_effect: str


_READING = _Words(
    "reading from the disk takes",
    "Read the data once and keep it, or read ahead in a thread.",
    "No effect where memory cannot hold the data.",
)
_WRITING = _Words(
    "writing to the disk takes",
    "Write less often: keep rows in memory and flush them once in many steps, or in a thread.",
    "No effect where each row must survive a crash.",
)
_MAKING = _Words(
    "making what is written to a file takes",
    "Write less often, or only what has changed.",
    _WRITING.no_effect,
)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"process_id": loop.process_id, "kind": "disk", "reason": "disk"}
    for row in statement.run(trace, _STATEMENT, **asked).to_dicts()[:1]:
        if not finding_verdicts.are_readings_enough(row["count"]):
            continue
        # The kernel tells of the machine by files, too.
        asks = of_functions(trace, loop, machine_readings.CALLS, waits=True)
        if asks is not None and (row["file"], row["line"]) in asks.places:
            continue
        wait_ns = row["wait_ns"]
        reads = _READS.fullmatch(row["function"]) is not None
        beside = Price(0, 0, 0) if reads else _written(trace, loop, row)
        price = Price(wait_ns, 0.9 * wait_ns, wait_ns).plus(beside)
        price = price.plus(_waking(row)).within(loop.loop_ns)
        words = _READING if reads else _WRITING if wait_ns >= beside.saving_ns else _MAKING
        evidence = (
            f"The loop waits {duration(wait_ns)} in {count(row['count'])} calls, most of it in "
            f"{row['function']}."
        )
        if not reads:
            evidence += f" Other lines that write take {duration(beside.saving_ns)} beside."
        yield Finding(
            title=f"{words.title} {share(price.saving_ns, loop.loop_ns)} of the loop",
            evidence=evidence,
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix=words.fix,
            no_effect=words.no_effect,
            price=price,
            operation=row["operation"],
            file=row["file"],
            line=row["line"],
        )


def _waking(row: Mapping[str, Any]) -> Price:
    """What else the code after all waits takes."""
    mean_ns = row["wait_ns"] / row["count"]
    return _WAKING.times(row["sleeps"] * min(mean_ns / _LONG_NS, 1))


def _written(trace: Trace, loop: Loop, row: Mapping[str, Any]) -> Price:
    """Other time of the function that waits, at lines that handle files."""
    if row["file"] is None:
        return Price(0, 0, 0)
    place = row["file"], row["line"]
    return written_beside(trace, loop, place, operations=[row["operation"]])


RULE = Rule(_find, of_lines=True)
