"""A process asks again and again whether something is ready, and others lack the CPU for that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import duration, share
from rlscope.analysis import finding_verdicts, statement
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.polling_code import asking_lines
from rlscope.analysis.prices import Price, exact
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_STATEMENT = "findings/busy_line"
Row = Mapping[str, Any]


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    asked = {"least_ns": finding_verdicts.least_busy_ns(loop.loop_ns)}
    rows = statement.run(trace, _STATEMENT, **asked).to_dicts()
    for lines in _asking(trace, rows):
        first = lines[0]
        if first["process_id"] == loop.process_id:  # it waits, if not for long for a CPU
            continue
        ran_ns = sum(row["own_ns"] for row in lines)
        of = {"process_id": loop.process_id, "asking_id": first["process_id"]}
        (lack,) = statement.run(trace, "findings/lacked_cpu", **of).to_dicts()
        yield Finding(
            title=f"process {first['process']} asks again and again whether something is ready, "
            f"for {duration(ran_ns)}",
            evidence=f"It needs a CPU for that, and the process of the loop lacked one for "
            f"{share(lack['lacked_share'], 1)} of its time.",
            evidence_sql=statement.shown(_STATEMENT, **asked),
            fix="Wait for it: get(), recv(), join() or wait(), without a loop around it.",
            no_effect="No effect where a CPU is idle.",
            price=_price(loop, ran_ns * (first["cpu_part"] or 0), lack),
            file=first["file"],
            line=first["line"],
        )


def _asking(trace: Trace, rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Those that ask, by process and loop: the busiest line of each loop first."""
    loops: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        asking = asking_lines(source_of(trace, row["file"]), row["line"])
        if row["line"] in asking:
            loops[row["process_id"], row["file"], min(asking)].append(row)
    yield from loops.values()


def _price(loop: Loop, asked_ns: float, lack: Row) -> Price:
    """The CPU goes to all that lack one, by how much they do."""
    lacked_ns = lack["lacked_share"] * loop.loop_ns
    part = min(1.0, asked_ns / max(lack["all_lacked_ns"], 1))
    return exact(part * lacked_ns).part(0.4, 1.0, 1.3).within(lacked_ns)


RULE = Rule(_find)
