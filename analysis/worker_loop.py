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
        title = finding.title.replace(" of the loop", " of their work")
        return replace(
            finding,
            title=f"in {plural(self.workers, 'environment worker')}, {title}",
            evidence=f"{finding.evidence} The price is of the training loop, which waits for them.",
            # Work that all do at once hides behind that of the last one, or keeps it from a CPU.
            price=price and price.part(0.7 * self.part, self.part, 1.1 * self.part),
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
    longest = None
    for workers in waits.workers_of(trace, loop.process_id).values():
        slowest = workers[0]
        stepped_ns = slowest["any_ns"] * slowest["whole_ns"] / max(slowest["operation_ns"], 1)
        if longest is None or stepped_ns > longest[0]:
            longest = stepped_ns, slowest
    if longest is None or not process_verdicts.are_steps_notable(longest[0], loop.loop_ns):
        return None
    stepped_ns, slowest = longest
    asked = {"process_id": slowest["worker_id"]}
    (worked,) = statement.run(trace, "worked_loop", **asked).to_dicts()
    if not worked["worked_ns"]:
        return None
    inside = replace(
        loop,
        process_id=slowest["worker_id"],
        loop_ns=worked["worked_ns"],
        waited_ns=0,
        starved_ns=0,
        iterations=0,
    )
    return WorkerLoop(inside, slowest["workers"], stepped_ns / worked["worked_ns"])
