"""Environments that are too cheap for worker processes: messages cost more than steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rlscope.amounts import count, duration
from rlscope.analysis import lines, prices, process_verdicts, statement, waits
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.prices import Price
from rlscope.analysis.process_verdicts import Lateness

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# Steps of more workers than cores, in one process: the part of the time that they take now.
_CROWDED, _LEAST_CROWDED = 0.6, 0.5


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    for operation, workers in waits.workers_of(trace, loop.process_id).items():
        row = workers[0]
        # One that is late hides what the others cost.
        late, _ = process_verdicts.lateness(workers)
        if late is Lateness.STRAGGLER or not process_verdicts.is_vector_slower(row):
            continue
        asked = {"process_id": loop.process_id, "operation": operation}
        (times,) = statement.run(trace, "findings/cheap_workers", **asked).to_dicts()
        slept_ns = min(_slept_ns(trace, loop, operation), times["wait_ns"])
        times["wait_ns"] -= slept_ns
        yield Finding(
            title=f"{count(row['workers'])} environment workers step for "
            f"{duration(row['all_stepped_ns'])} in all, and {operation} takes "
            f"{duration(row['operation_ns'])}",
            evidence=f"{operation} waits {duration(times['wait_ns'])} in "
            f"{count(row['instances'])} steps{_beside(slept_ns)}: most of it goes into messages "
            "and waking.",
            evidence_sql=statement.shown("findings/cheap_workers", **asked),
            fix="Step the environments in this process (SyncVectorEnv, DummyVecEnv), or use fewer "
            "workers with several environments each.",
            no_effect="No effect where steps get longer than messages, such as with another "
            "environment.",
            price=_price(row, times),
            operation=operation,
            **lines.place_of(
                lines.operation_lines(
                    trace, process_id=loop.process_id, operation=operation, layers=("wait",)
                )
            ),
        )


def _slept_ns(trace: Trace, loop: Loop, operation: str) -> int:
    """Waits that the process itself asks for, between two looks whether workers are ready: rule
    sleeping has their price."""
    asked = {"process_id": loop.process_id, "kind": "sleep", "reason": "sleep"}
    rows = statement.run(trace, "findings/kind_wait", **asked).to_dicts()
    return sum(row["wait_ns"] for row in rows if row["operation"] == operation)


def _beside(slept_ns: int) -> str:
    return f", beside {duration(slept_ns)} of sleeps" if slept_ns else ""


def _price(row: dict[str, Any], times: dict[str, Any]) -> Price:
    """What the operation takes, without the steps. A worker that was just woken finds its caches
    cold, so that in this process the same steps take less: a vector and its steps together are as
    long. More workers than cores also take CPUs from each other in the middle of a step. At most it
    also has all of the Python that the operation has now."""
    scale = row["whole_ns"] / row["operation_ns"]
    stepped_ns, work_ns = row["all_stepped_ns"] * scale, times["work_ns"]
    crowded = process_verdicts.are_cores_crowded(row)
    vector = Price(stepped_ns, 0.7 * stepped_ns, stepped_ns + work_ns)
    vector = vector.part(_LEAST_CROWDED, _CROWDED, 1) if crowded else vector
    return prices.exact(times["wait_ns"] + work_ns).less(vector)


RULE = Rule(_find)
