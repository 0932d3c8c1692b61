"""A process that is slower than the others of its kind, which share their work or wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import lines, process_verdicts, roles, statement, waits
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

Row = Mapping[str, Any]


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    steps = roles.peer_steps(trace).to_dicts()
    late = _late(trace, steps)
    row = next(iter(late or steps), None)
    if row is None or not process_verdicts.is_slower(row):
        return
    if not late and not process_verdicts.is_slower(_on_cpu(trace, row)):
        return
    together = bool(late) or roles.meets(roles.family_of(trace, row["family"]))
    if not (together or roles.starving(trace, row["family"])):
        return
    asked = {"process_id": row["process_id"], "operation": row["operation"]}
    (spread,) = statement.run(trace, "findings/slow_peer", **asked).to_dicts()
    yield Finding(
        title=f"{row['process']} takes {duration(row['mean_ns'])} for {row['operation']}, and "
        f"others {duration(row['typical_ns'])}",
        evidence=f"{count(row['entries'])} entries. It is one of {row['processes']} processes that "
        "do the same.",
        evidence_sql=statement.shown("findings/slow_peer", **asked),
        fix="Make it as fast as the others, or give it less of the work.",
        no_effect="No effect where nobody waits for what it makes.",
        price=_price(row, spread, loop, together=together),
        operation=row["operation"],
        **lines.place_of(lines.operation_lines(trace, **asked)),
    )


def _on_cpu(trace: Trace, row: Row) -> Row:
    """The same without the time in which the processes lacked a CPU, which a sentence tells:
    another program, or chance, decides who gets one."""
    asked = {"process_id": row["process_id"], "family": row["family"]}
    (part,) = statement.run(trace, "findings/peer_cpu", **asked).to_dicts()
    if part["own"] is None or part["typical"] is None:
        return row
    means = {
        "mean_ns": row["mean_ns"] * part["own"],
        "typical_ns": row["typical_ns"] * part["typical"],
    }
    return {**row, **means}


def _late(trace: Trace, steps: Sequence[Row]) -> list[Row]:
    """Rows of the process that most often comes last to the collectives of its family. What others
    wait for it there makes their own steps longer."""
    met = waits.collectives(trace, rows=1).to_dicts()
    if not met or not process_verdicts.is_collective_notable(met[0]):
        return []
    return [row for row in steps if row["process"] == met[0]["last_process"]]


def _price(row: Row, spread: Row, loop: Loop, *, together: bool) -> Price:
    """What its excess is of its loop: all of that where the others meet it, and the share of one of
    them where they go on without it."""
    whole = loop.loop_ns / row["loop_ns"] / (1 if together else row["processes"])
    part = max(spread["mean_ns"] - row["typical_ns"], 0) * row["entries"] * whole
    half = spread["half_ns"] * row["entries"] * whole
    return Price(part, part - half, part + half)


RULE = Rule(_find)
