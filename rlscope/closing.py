"""What rls-prof says once the program has ended: the trace, its price, the breakdown, the page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rlscope.recording import Outcome
from rlscope.report import units

# A price is worth a line once the program had enough CPU time to compare it with.
_SHORTEST_PROGRAM_NS = 100_000_000


@dataclass(frozen=True)
class Price:
    """What recording took, measured: the events of a run by the cost of one on this machine."""

    events: int
    operation_cost_ns: float
    """CPU time that one recorded operation adds to the program."""
    program_cpu_ns: int
    drainer_cpu_ns: int
    """CPU time of the wrapper's drainer, beside the program."""

    def describe(self) -> str:
        """One line for the terminal."""
        events_ns = self.events * self.operation_cost_ns
        return (
            f"bookkeeping took {units.share(events_ns, self.program_cpu_ns)} of the program's CPU"
            f" time ({units.count(self.events)} events of {units.duration(self.operation_cost_ns)}"
            f" in {units.duration(self.program_cpu_ns)}); the drainer took"
            f" {units.share(self.drainer_cpu_ns, self.program_cpu_ns)} beside it"
            f" ({units.duration(self.drainer_cpu_ns)})"
        )


def measure_price(outcome: Outcome) -> Price | None:
    """The price of the run; None if it recorded nothing or was too short to compare.

    Kept in the trace directory as metrics of the machine, for the report.

    Raises:
        OSError: it cannot be measured here, or not be written.
    """
    from rlscope.capture.cost import can_measure, operation_cost_ns

    events, program_ns = outcome.statistics.get("events", 0), outcome.ending.cpu_ns
    if not events or program_ns < _SHORTEST_PROGRAM_NS or not can_measure():
        return None
    drainer_ns = outcome.statistics.get("cpu_ns", 0)
    price = Price(events, operation_cost_ns(), program_ns, drainer_ns)
    metrics = {"operation_cost_ns": price.operation_cost_ns, "drainer_cpu_ns": float(drainer_ns)}
    _keep(outcome.directory, metrics)
    return price


def too_short_line(outcome: Outcome) -> str:
    """Says why a program that recorded something has no price; empty if that is not why."""
    if outcome.statistics.get("events", 0) and outcome.ending.cpu_ns < _SHORTEST_PROGRAM_NS:
        used = units.duration(outcome.ending.cpu_ns)
        return f"bookkeeping: {used} of CPU time are too few to tell its share"
    return ""


def keep_stalls(outcome: Outcome) -> None:
    """Keeps how long records may have waited for the disk, if they did, for the report.

    Raises:
        OSError: it cannot be written.
    """
    longest_ns = outcome.statistics.get("longest_stall_ns", 0)
    if longest_ns:
        _keep(outcome.directory, {"longest_stall_ns": float(longest_ns)})


def _keep(directory: str, metrics: Mapping[str, float]) -> None:
    from rlscope.capture.machine import open_samples, write_samples

    with open_samples(directory) as file:
        write_samples(file, [(None, name, value) for name, value in metrics.items()])


def trace_lines(outcome: Outcome) -> Iterator[str]:
    """Where the trace is, what it holds and what was lost."""
    ending = outcome.ending.describe()
    if ending:
        yield ending
    yield f"trace {outcome.directory}: {_contents(outcome.statistics)}"
    if outcome.statistics.get("disk_full"):
        yield "recording stopped: the disk is nearly full (RLSCOPE_MIN_FREE sets how nearly)"
    if outcome.statistics.get("stalls"):
        longest = units.duration(outcome.statistics["longest_stall_ns"])
        yield (
            f"records may have waited for the disk of the trace, up to {longest}: -o on a faster"
            " one avoids that"
        )


def running_lines(outcome: Outcome) -> Iterator[str]:
    """Names the processes that outlived the program."""
    if not outcome.running:
        return
    names = ", ".join(f"{image.pid} ({image.describe()})" for image in outcome.running)
    yield f"still running: {names}; rlscope summary {outcome.directory} takes them in later"


def _contents(statistics: dict[str, int]) -> str:
    events, size = statistics.get("events", 0), statistics.get("bytes", 0)
    lost = statistics.get("lost", 0)
    losses = f"{units.count(lost)} lost" if lost else "none lost"
    if not events:
        return f"no events, {losses}; annotate the program with rls.operation (or widen the window)"
    return (
        f"{units.count(events)} events, {losses}, {units.size(size)}"
        f" ({size / events:.1f} bytes an event)"
    )
