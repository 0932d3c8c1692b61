"""What the processes of a run do in training loops that are not the same: a learner and its actors,
each in a row of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope.analysis import process_verdicts, statement
from rlscope.analysis.operations import BETWEEN
from rlscope.relations.groups import group_of
from rlscope.table import Table

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_FAMILY = ("family", "processes", "name", "last_name", "role", "waiting_id")
_TARGET = ("target_kind", "target_role", "target_family", "target_peers", "target_name",
           "target_last_name")  # fmt: skip
_COLUMNS = (*_FAMILY, "loop_ns", "waited_ns", "slept_ns", "group", "group_ns", "likeness", *_TARGET)

Rows = list[dict[str, Any]]


def role_loops(trace: Trace) -> Table:
    """family, processes, name, last_name, role, waiting_id, loop_ns, waited_ns, slept_ns, group,
    group_ns, likeness, and target_...: one row for each family of processes with a training loop.
    Those that starve are first, then those that sleep, the one that does so for the largest part of
    its loop before others. Then come those with the longest loops.

    waiting_id is the process_id of the one that waits most of the family.
    `group` is the group of operations that takes most of the loop beside waits for other processes,
    and group_ns its time without them.
    `likeness` to the family with the longest loops: the part of the operations, by their time,
    that both have. 0: they share none.
    """
    families: dict[str, Rows] = {}
    for row in statement.run(trace, "role_loop").to_dicts():
        families.setdefault(row["family"], []).append(row)
    shares = {family: _operation_shares(rows) for family, rows in families.items()}
    longest = next(iter(shares.values()), {})
    found = [
        _row(rows) | {"likeness": _likeness(shares[family], longest)}
        for family, rows in families.items()
    ]
    found.sort(key=_place)
    columns = {name: [row[name] for row in found] for name in _COLUMNS}
    return Table(columns, name="role_loops")


def peer_steps(trace: Trace) -> Table:
    """family, processes, process_id, process, operation, entries, mean_ns, typical_ns, excess_ns,
    slower_ns, loop_ns: how long an operation takes a process, beside the others of its family.
    The slowest process is first, and with it the operation that costs it most."""
    return statement.run(trace, "peer_step")


def family_of(trace: Trace, family: str | None) -> dict[str, Any] | None:
    """The row of `role_loops` of a family; None: it has no training loop."""
    rows = role_loops(trace).to_dicts()
    return next((row for row in rows if row["family"] == family), None)


def starving(trace: Trace, family: str) -> bool:
    """Whether another family waits for this one for longer than any work of its loop takes."""
    rows = role_loops(trace).to_dicts()
    return any(process_verdicts.is_starving(row) for row in rows if row["target_family"] == family)


def meets(row: dict[str, Any] | None) -> bool:
    """Whether the processes of a family, from its row of `role_loops`, wait for each other: ranks
    of one training do."""
    return row is not None and row["processes"] > 1 and row["role"] == "rank"


def _row(rows: Rows) -> dict[str, Any]:
    work: dict[str, int] = {}
    for row in _inside(rows):
        group = group_of(row["operation"])
        work[group] = work.get(group, 0) + row["duration_ns"] - row["waited_ns"]
    group = max(work, key=lambda name: work[name])
    return {name: rows[0][name] for name in (*_FAMILY, *_TARGET)} | {
        "loop_ns": sum(row["duration_ns"] for row in rows),
        **{name: sum(row[name] for row in rows) for name in ("waited_ns", "slept_ns")},
        "group": group,
        "group_ns": work[group],
    }


def _place(row: dict[str, Any]) -> tuple[int, float]:
    if process_verdicts.is_starving(row):
        return 0, -row["waited_ns"] / row["loop_ns"]
    if process_verdicts.is_sleeping(row):
        return 1, -row["slept_ns"] / row["loop_ns"]
    return 2, -row["loop_ns"]


def _inside(rows: Rows) -> Rows:
    """Those of operations."""
    return [row for row in rows if row["operation"] != BETWEEN]


def _operation_shares(rows: Rows) -> dict[str, float]:
    inside = _inside(rows)
    whole_ns = max(sum(row["duration_ns"] for row in inside), 1)
    return {row["operation"]: row["duration_ns"] / whole_ns for row in inside}


def _likeness(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(min(share, other.get(operation, 0)) for operation, share in one.items())
