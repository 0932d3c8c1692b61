"""Processes with training loops of their own, a sentence for each role: who waits for whom, what
the others do meanwhile, and which of them is slow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rlscope.analysis import process_verdicts
from rlscope.report import loop_sentences, units

# Roles that have a sentence.
_ROLES = 3

Row = dict[str, Any]
Rows = Sequence[Row]


def loops(rows: Rows) -> str:
    """Rows of `role_loops`, each in a sentence; the one that waits or sleeps most is first."""
    return " ".join(map(_loop, rows[:_ROLES]))


def _loop(row: Row) -> str:
    who = loop_sentences.target(row | {"kind": None, "peers": row["processes"]})
    many = row["processes"] > 1
    loop = f"training loop{'s' if many else ''}"
    if process_verdicts.is_sleeping(row):
        part, does = "slept_ns", "sleep" if many else "sleeps"
    elif process_verdicts.is_starving(row):
        part, does = "waited_ns", f"{'wait' if many else 'waits'} for {_target(row)}"
    else:
        part, does = "group_ns", ""
    share = units.share(row[part], row["loop_ns"])
    times = f"{units.duration(row[part])} of {units.duration(row['loop_ns'])}"
    if does:
        return f"{who} {does} for {share} of {'their' if many else 'its'} {loop}: {times}."
    return f"{loop_sentences.title(row['group'])} takes {share} of the {loop} of {who}: {times}."


def _target(row: Row) -> str:
    names = ("kind", "role", "family", "peers", "name", "last_name")
    awaited = {name: row[f"target_{name}"] for name in names}
    if awaited["peers"] == 2 and awaited["name"] in (row["name"], row["last_name"]):
        return f"each other and for {units.visible(awaited['last_name'])}"
    return loop_sentences.target(awaited)


def straggler(steps: Rows, roles: Rows) -> Iterable[str]:
    """Rows of `peer_step` and of `role_loops`: which process is slower than the others of a family
    that another process waits for."""
    awaited = {row["target_family"] for row in roles if process_verdicts.is_starving(row)}
    slow = next((row for row in steps if row["family"] in awaited), None)
    if slow is None or not process_verdicts.is_slower(slow):
        return
    others = "the other one" if slow["processes"] == 2 else "the others, by their median,"
    process, operation = units.visible(slow["process"]), units.label(slow["operation"])
    mean, typical, excess, loop = (
        units.duration(slow[name]) for name in ("mean_ns", "typical_ns", "excess_ns", "loop_ns")
    )
    yield (
        f"{process} is the straggler: {operation} takes it {mean} each time, and {others} "
        f"{typical}. That adds {excess} to its training loop of {loop}."
    )
