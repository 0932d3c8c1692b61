"""The loop of an environment worker, for which the training loop waits: less work there is less
time here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rlscope.amounts import plural
from rlscope.analysis import lines, process_verdicts, statement, waits
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace


@dataclass(frozen=True)
class WorkerLoop:
    """That of the slowest of the workers for which a training loop waits longest."""

    loop: Loop
    workers: int
    part: float
    """How much less the training loop waits, of what this worker works less."""

    def seen_outside(self, finding: Finding) -> Finding:
        """A finding in the worker, as the training loop feels it."""
        price = finding.price
        whose = "its" if self.workers == 1 else "their"
        title = finding.title.replace(" of the loop", f" of {whose} work")
        return replace(
            finding,
            title=f"in {plural(self.workers, 'environment worker')}, {title}",
            evidence=f"{finding.evidence} The price is of the training loop, which waits for that.",
            # Work that all do at once hides behind that of the last one, or keeps it from a CPU.
            price=None if price is None else price.times(self.part).part(0.7, 1.0, 1.1),
            experiment=None,
        )

    def hottest_line(self, trace: Trace) -> dict[str, Any] | None:
        """The line of the program's own in which the worker works longest: file, line, own_ns and
        own_low_ns."""
        layers = ("python", "simulator", "framework")
        rows = lines.operation_lines(trace, process_id=self.loop.process_id, layers=layers)
        return next(iter(rows), None)


def worker_loop(trace: Trace, loop: Loop) -> WorkerLoop | None:
    """None: the loop does not wait for environment workers, or hardly."""
    found = _of_vector(trace, loop) or _of_pool(trace, loop)
    if found is None or not process_verdicts.are_steps_notable(found.stepped_ns, loop.loop_ns):
        return None
    inside = replace(
        loop,
        process_id=found.worker_id,
        loop_ns=found.worked_ns,
        waited_ns=0,
        starved_ns=0,
        iterations=0,
    )
    return WorkerLoop(inside, found.workers, found.stepped_ns / found.worked_ns)


@dataclass(frozen=True)
class _Slowest:
    """The worker that the loop waits for most."""

    worker_id: int
    workers: int
    worked_ns: int
    stepped_ns: float
    """Time of the loop in which it waits while workers step."""


def _of_vector(trace: Trace, loop: Loop) -> _Slowest | None:
    """Of workers that step while an operation of the loop waits for each of them."""
    longest = None
    for workers in waits.workers_of(trace, loop.process_id).values():
        slowest = workers[0]
        stepped_ns = slowest["any_ns"] * slowest["whole_ns"] / max(slowest["operation_ns"], 1)
        if longest is None or stepped_ns > longest[0]:
            longest = stepped_ns, slowest
    if longest is None:
        return None
    stepped_ns, slowest = longest
    asked = {"process_id": slowest["worker_id"]}
    (worked,) = statement.run(trace, "worked_loop", **asked).to_dicts()
    if not worked["worked_ns"]:
        return None
    return _Slowest(slowest["worker_id"], slowest["workers"], worked["worked_ns"], stepped_ns)


def _of_pool(trace: Trace, loop: Loop) -> _Slowest | None:
    """Of a pool, for whose results a thread waits."""
    rows = statement.run(trace, "pool_worker", process_id=loop.process_id).to_dicts()
    if not rows:
        return None
    slowest = rows[0]
    return _Slowest(slowest["worker_id"], len(rows), slowest["worked_ns"], loop.waited_ns)
