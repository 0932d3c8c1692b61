"""A process that waits for others, which never wait for it: it gets its work too slowly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration, plural, share
from rlscope.analysis import lines, roles, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Row = Mapping[str, Any]


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for row in roles.role_loops(trace).to_dicts():
        serving = roles.family_of(trace, row["target_family"])
        if not (serving and roles.starving(trace, serving["family"])):
            continue
        asked = {"process_id": loop.process_id}
        (cores,) = statement.run(trace, "findings/starving", **asked).to_dicts()
        needed = _needed(row, serving)
        yield Finding(
            title=f"{row['name']} waits {share(row['waited_ns'], row['loop_ns'])} of its loop for "
            f"{plural(serving['processes'], 'process')} of the kind {serving['family']}",
            evidence=f"It waits {duration(row['waited_ns'])} of {duration(row['loop_ns'])}. "
            f"{plural(needed, 'process')} of that kind would keep it busy.",
            evidence_sql=statement.shown("findings/starving", **asked),
            fix=f"Use up to {needed} of them if there are cores, or make what they do cheaper; do "
            f"not tune {row['name']}.",
            no_effect="No effect where all cores are busy already.",
            price=_price(serving["processes"], needed, cores["cores"], loop),
            **lines.place_of(lines.operation_lines(trace, process_id=loop.process_id)),
        )
        return


def _needed(row: Row, serving: Row) -> int:
    """So many processes make in the time of its work what it takes."""
    work_ns = max(row["loop_ns"] - row["waited_ns"], 1)
    return int(-(-serving["processes"] * row["loop_ns"] // work_ns))


def _price(there: int, needed: int, cores: int | None, loop: Loop) -> Price:
    """At most what the processes that it needs win. What one more of them wins is sure, if it has
    a core of its own."""
    high = 1 - there / needed
    low = 1 - there / (there + 1) if cores is not None and there + 1 < cores else 0.0
    low = min(low, high)
    return Price(*((loop.loop_ns * each) for each in ((low + high) / 2, low, high)))


RULE = Rule(_find)
