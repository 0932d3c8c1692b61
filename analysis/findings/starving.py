"""A process that waits for others, which never wait for it: it gets its work too slowly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration, plural, share
from rlscope.analysis import lines, process_verdicts, roles, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions
from rlscope.analysis.prices import Price

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Row = Mapping[str, Any]
# What a queue between processes takes and gives items with.
_QUEUES = (r".*/multiprocessing/(connection|queues|synchronize)\.py:.*",)
# Share of a CPU that a process takes at least, however long it waits.
_LEAST_WORK = 0.01


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for row in roles.role_loops(trace).to_dicts():
        serving = roles.family_of(trace, row["target_family"])
        if not (serving and roles.starving(trace, serving["family"])):
            continue
        asked = {"family": serving["family"]}
        (work,) = statement.run(trace, "findings/starving", **asked).to_dicts()
        if process_verdicts.are_senders_blocked(work):
            yield from _of_messages(trace, loop, row, serving, work)
            return
        needed = _needed(row, serving)
        yield Finding(
            title=f"{row['name']} waits {share(row['waited_ns'], row['loop_ns'])} of its loop for "
            f"{plural(serving['processes'], 'process')} of the kind {serving['family']}",
            evidence=f"It waits {duration(row['waited_ns'])} of {duration(row['loop_ns'])}. "
            f"{plural(math.ceil(needed), 'process')} of that kind would keep it busy. Each of them "
            f"works on a CPU for {share(work['working_ns'], work['loop_ns'])} of its loop.",
            evidence_sql=statement.shown("findings/starving", **asked),
            fix=f"{_fix(needed, work)}; do not tune {row['name']}.",
            no_effect="No effect where all cores are busy already.",
            price=_price(serving["processes"], needed, _room(work), loop),
            ends_starving=True,
            **lines.place_of(
                lines.operation_lines(trace, process_id=row["waiting_id"], layers=("wait",))
            ),
        )
        return


def _of_messages(trace: Trace, loop: Loop, row: Row, serving: Row, work: Row) -> Iterator[Finding]:
    """Both sides wait: what is between them takes the time, and more processes change nothing."""
    moving = of_functions(trace, loop, _QUEUES, waits=True)
    if moving is None:
        return
    asked = {"family": serving["family"]}
    yield Finding(
        title=f"{row['name']} and {plural(serving['processes'], 'process')} of the kind "
        f"{serving['family']} wait for the queue between them, for "
        f"{share(moving.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{row['name']} waits {duration(row['waited_ns'])} of {duration(row['loop_ns'])} "
        "for items. Each of the others works on a CPU for "
        f"{share(work['working_ns'], work['loop_ns'])} of its loop, and waits for the queue's "
        f"semaphores for {share(work['queued_ns'], work['loop_ns'])}.",
        evidence_sql=statement.shown("findings/starving", **asked),
        fix="Send many items in one message: each message is pickled, and takes a lock and a pipe.",
        no_effect="No effect where each item is needed at once, or is large.",
        price=moving.time.part(0.6, 0.95, 1.1),
        operation=moving.operation,
        file=moving.file,
        line=moving.line,
        ends_starving=True,
    )


def _fix(needed: float, work: Row) -> str:
    if work["is_main"]:
        return "Make what that process does cheaper, or share it out to several"
    return f"Use up to {math.ceil(needed)} of them if there are cores, or make what they do cheaper"


def _needed(row: Row, serving: Row) -> float:
    """So many processes make in the time of its work what it takes."""
    work_ns = max(row["loop_ns"] - row["waited_ns"], 1)
    return float(serving["processes"] * row["loop_ns"] / work_ns)


def _room(work: Row) -> float:
    """So many of the processes have CPUs to work on, beside one that works all the time. A process
    that waits for a device leaves its CPU to others."""
    if work["cores"] is None:
        return 0.0
    each = work["working_ns"] / max(work["loop_ns"], 1)
    return float(max(work["cores"] - 1, 0) / max(each, _LEAST_WORK))


def _price(there: int, needed: float, room: float, loop: Loop) -> Price:
    """At most what as many as are needed win. What one more wins is sure, if it has a CPU."""
    high = 1 - there / needed
    low = 1 - there / (there + 1) if room >= there + 1 else 0.0
    value = 1 - there / min(needed, room) if room > there else 0.0
    low = min(low, high)
    return Price(*((loop.loop_ns * each) for each in (max(value, (low + high) / 2), low, high)))


RULE = Rule(_find)
