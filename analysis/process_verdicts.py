"""How processes wait for each other, and what of it is worth a word: workers, roles, ranks.

Verdicts as those of analysis/verdicts.py.
"""

from __future__ import annotations

from enum import Enum, auto

from rlscope.analysis.verdicts import Row, Rows

# Share of a process's waits that a target has.
_LISTED_WAIT = 0.01
# Share of the steps' time that the slowest worker costs, and by how much it is slower than others.
_NOTABLE_LATE = 0.05
_SLOWER = 0.25
# How much longer a worker of a pool works than all do in the mean, if tasks are given in advance.
_UNEVEN = 1.25
# Share of iterations in which a process waits for others.
_NOTABLE_WAITED = 0.1
# Share of a training loop that a process waits in collectives.
_NOTABLE_COLLECTIVE = 0.05
# Part of a training loop in which the environment workers step that it waits for.
_NOTABLE_STEPS = 0.1
# Part of their operations that two training loops have in common, if they are of one kind.
_ALIKE = 0.5
# Part of the loops of processes that others wait for, in which they wait for a queue's semaphores.
_BLOCKED_SENDERS = 0.5


def is_wait_listed(self_ns: int, process_ns: int) -> bool:
    """Whether a target is worth a row of the waits of its process."""
    return self_ns >= _LISTED_WAIT * process_ns


class Lateness(Enum):
    """What the slowest environment worker of an operation is."""

    NOT_NOTABLE = auto()
    STRAGGLER = auto()
    """Its own steps take longer."""
    BEGINS_LATE = auto()


def lateness(workers: Rows) -> tuple[Lateness, Row]:
    """Decides it, and for which worker, from the rows of `worker_step` of an operation."""
    slow = max(workers, key=lambda row: row["excess_ns"])
    late = max(workers, key=lambda row: row["late_ns"])
    if _is_slow(slow):
        return Lateness.STRAGGLER, slow
    if late["late_ns"] > _NOTABLE_LATE * late["operation_ns"]:
        return Lateness.BEGINS_LATE, late
    return Lateness.NOT_NOTABLE, slow


def _is_slow(worker: Row) -> bool:
    """Workers that share cores differ a little by chance, so what may be won is not enough."""
    notable_ns = _NOTABLE_LATE * worker["operation_ns"]
    usual_ns = worker["own_steps"] * (worker["typical_ns"] or 0)
    may_win = worker["excess_ns"] > max(notable_ns, _SLOWER * usual_ns)
    return bool(may_win or worker["tail_ns"] > notable_ns)


def are_cores_shared(worker: Row) -> bool:
    """Whether a process and its workers have less than a core each, as far as is known."""
    return worker["cores"] is None or worker["workers"] >= worker["cores"]


def are_cores_crowded(worker: Row) -> bool:
    """Whether workers have less than a core each."""
    return bool(worker["cores"] and worker["workers"] > worker["cores"])


def is_vector_slower(worker: Row) -> bool:
    """Whether the workers of an operation step for less time, added up, than it takes."""
    return bool(worker["all_stepped_ns"] < worker["operation_ns"])


def are_tasks_uneven(longest_ns: float, mean_ns: float) -> bool:
    """Whether a worker of a pool works so much longer than all do in the mean that tasks are not
    given to whoever is free."""
    return longest_ns >= _UNEVEN * mean_ns


def are_threads_slower(row: Row) -> bool:
    """Whether a thread waits for others that step environments, which would be done sooner in that
    thread. From a row of the rule `cheap_threads`."""
    waits = row["wait_ns"] >= _NOTABLE_WAITED * row["operation_ns"]
    return bool(waits and row["stepped_ns"] < row["operation_ns"])


def waiting_iterations(rows: Rows) -> list[list[Row]]:
    """Rows of `critical_iteration`, one list for each process that waits for others for a notable
    part of its iterations."""
    by_process: dict[int, list[Row]] = {}
    for row in rows:
        by_process.setdefault(row["process_id"], []).append(row)
    return [members for members in by_process.values() if _are_waiting(members)]


def _are_waiting(rows: Rows) -> bool:
    waited_ns = sum(row["waited_ns"] for row in rows)
    return bool(waited_ns > _NOTABLE_WAITED * sum(row["duration_ns"] for row in rows))


def are_loops_different(roles: Rows) -> bool:
    """Whether processes do different things in their training loops, from rows of `role_loops`."""
    return any(row["likeness"] < _ALIKE for row in roles)


def are_senders_blocked(row: Row) -> bool:
    """Whether processes that others wait for wait themselves until a queue takes their items. From
    a row of `findings/starving`."""
    return bool(row["queued_ns"] >= _BLOCKED_SENDERS * row["loop_ns"] > 0)


def is_starving(role: Row) -> bool:
    """Whether a role waits for other processes for longer than any work of its loop takes."""
    return bool(role["waited_ns"] > role["group_ns"])


def is_sleeping(role: Row) -> bool:
    """Whether a role waits for time for longer than for other processes, and than any work of its
    loop takes."""
    return bool(role["slept_ns"] > max(role["waited_ns"], role["group_ns"]))


def is_slower(step: Row) -> bool:
    """Whether a process is slower than the others of its family for a notable part of its loop,
    from the row of `peer_step` with the operation that costs it most."""
    notable = step["slower_ns"] > _NOTABLE_LATE * step["loop_ns"]
    return bool(notable and step["mean_ns"] > (1 + _SLOWER) * step["typical_ns"])


def are_steps_notable(stepped_ns: float, loop_ns: int) -> bool:
    """Whether what environment workers do can be worth something to the loop that waits."""
    return stepped_ns >= _NOTABLE_STEPS * loop_ns


def is_collective_notable(met: Row) -> bool:
    """Whether waiting for the latest process is worth a word, from a row of `collective`."""
    return bool(met["loop_ns"] and met["waited_ns"] > _NOTABLE_COLLECTIVE * met["loop_ns"])
