"""The last lines of rls-prof: the trace, its price, the breakdown, the page."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rlscope import cuts
from rlscope.analysis import verdicts
from rlscope.record.program import Outcome
from rlscope.report import bookkeeping, contents, losses, sentences, units
from rlscope.report.contents import Contents
from rlscope.rundir import kept_iterations

_ADVICE = "; annotate the program with rls.operation, or record for longer"


@dataclass(frozen=True)
class Price:
    """What recording took: the events of each kind by the cost of that kind on this machine."""

    facts: Mapping[str, float | None]
    """Events and costs by kind, as rlscope.report.bookkeeping reads them."""
    program_cpu_ns: int
    drainer_cpu_ns: int
    """CPU time of the wrapper's drainer, beside the program."""
    own_cpu_ns: int = 0
    """CPU time of the profiler's threads inside the processes, which drain where rls-prof does not;
    not part of the program's."""

    def describe(self) -> str:
        """One line for the terminal."""
        share = units.share(bookkeeping.cost_ns(self.facts), self.program_cpu_ns)
        drainers = f"the drainer used {self._beside(self.drainer_cpu_ns)}"
        if self.own_cpu_ns:
            drainers += f", and threads of rlscope inside it {self._beside(self.own_cpu_ns)}"
        return (
            f"recording took {share} of the program's CPU time: {bookkeeping.events(self.facts)},"
            f" as measured in a loop, where they cost least, in"
            f" {units.duration(self.program_cpu_ns)}; beside the program, {drainers}"
        )

    def _beside(self, cpu_ns: int) -> str:
        share = units.share(cpu_ns, self.program_cpu_ns)
        return f"{share} as much ({units.duration(cpu_ns)})"


def read_contents(outcome: Outcome) -> Contents | None:
    """The contents of the trace; None where it was removed.

    Raises:
        TraceError: nothing in it can be read.
    """
    return None if outcome.removed else contents.read(outcome.directory)


def ran_no_python(outcome: Outcome, held: Contents) -> bool:
    """Whether nothing in the trace says anything, because no program in it was Python."""
    whole = not (held.cuts or held.nested or held.lost or _lacks_files(outcome))
    return whole and not (held.events or held.pythons or held.unrecorded or outcome.running)


def measure_price(outcome: Outcome, held: Contents, *, native: bool = True) -> Price | None:
    """The price of the run; None if it recorded nothing or was too short to compare.

    The costs are kept in the trace directory as metrics of the machine, for the report.

    Args:
        native: native calls were recorded by stubs, which are measured here.

    Raises:
        OSError: it cannot be measured here, or not be written.
    """
    from rlscope.costs import loop_costs

    program_ns = max(0, outcome.ending.cpu_ns - held.own_cpu_ns)
    if (
        not any(held.by_kind.values())
        or not verdicts.is_comparable(program_ns)
        or not loop_costs.can_measure()
    ):
        return None
    costs = loop_costs.measure()
    drainer_ns = outcome.statistics.get("cpu_ns", 0)
    measured = {
        "operation_cost_ns": costs.operation,
        "automatic_cost_ns": costs.automatic,
        "native_cost_ns": costs.native if native else None,
    }
    known = {name: value for name, value in measured.items() if value is not None}
    _keep(outcome.directory, {**known, "drainer_cpu_ns": float(drainer_ns)})
    facts = {**held.by_kind, **measured}
    return Price(facts, program_ns, drainer_ns, held.own_cpu_ns)


def too_short_line(outcome: Outcome, held: Contents) -> str:
    """Says why a program that recorded something has no price; empty if that is not why."""
    if held.events and not verdicts.is_comparable(outcome.ending.cpu_ns):
        used = units.duration(outcome.ending.cpu_ns)
        return f"the program used {used} of CPU time, too little to say which share recording took"
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
    from rlscope.record.machine import open_samples, write_samples

    with open_samples(directory) as file:
        write_samples(file, [(None, name, value) for name, value in metrics.items()])


def ending_lines(outcome: Outcome) -> Iterator[str]:
    """How the program ended, if not well."""
    ending = outcome.ending.describe()
    if ending:
        yield ending
    status = outcome.ending.status
    bus_error = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGBUS
    if bus_error and outcome.statistics.get("gone_pages"):
        yield "SIGBUS came because files in DIR/rings were cut short while the program used them"


def trace_lines(outcome: Outcome, held: Contents | None) -> Iterator[str]:
    """The trace's path, contents and losses.

    Args:
        held: None where the trace was removed.
    """
    if held is None:
        yield f"the trace directory was removed{_when_cut(outcome)}: {outcome.directory}"
    elif _lacks_files(outcome) and not held.cuts:
        yield f"files of the trace were removed{_when_cut(outcome)}: {outcome.directory}"
    else:
        yield from map(sentences.cut, held.cuts)
    missing = outcome.statistics.get("removed" if held else "events", 0)
    if _lacks_files(outcome) and missing:
        yield f"the trace lost {units.plural(missing, 'event')} that were already written"
    if held is not None:
        described = _describe(held, _lacks_files(outcome), outcome.warnings)
        yield f"trace {outcome.directory}: {described}"
        if held.nested:
            yield sentences.nested(", ".join(held.nested))
    if outcome.statistics.get("stalls"):
        longest = units.duration(outcome.statistics["longest_stall_ns"])
        yield (
            f"records may have waited up to {longest} for the disk of the trace: put -o on a"
            " faster disk"
        )


def kept_lines(outcome: Outcome) -> Iterator[str]:
    """Where the records of kept iterations are."""
    if not outcome.removed:
        for kept in kept_iterations.find(outcome.directory):
            yield f"all records of {kept}: {os.path.join(outcome.directory, kept.folder)}"


def loss_lines(held: Contents) -> Iterator[str]:
    """The meaning of each kind of loss."""
    for kind in held.lost:
        if kind in losses.MEANING:
            yield f"{kind}: {losses.MEANING[kind]}"


def running_lines(outcome: Outcome) -> Iterator[str]:
    """Names the processes that outlived the program."""
    if not outcome.running:
        return
    names = ", ".join(f"{image.pid} ({image.describe()})" for image in outcome.running)
    yield f"still running: {names}; run rlscope summary {outcome.directory} later to include them"


def _lacks_files(outcome: Outcome) -> bool:
    return outcome.removed or cuts.removed(outcome.statistics.get("cut", 0))


def _when_cut(outcome: Outcome) -> str:
    """When the drainer saw it, which looks once a second."""
    if not outcome.statistics.get("cut"):
        return ""
    seen_ns = outcome.statistics["cut_ns"] - outcome.start_ns
    return f", about {units.duration(seen_ns)} after the start"


def _describe(held: Contents, lacks_files: bool, warnings: Sequence[str]) -> str:
    until = " up to then" if held.cuts else ""
    whole = not lacks_files
    if not held.events:
        idle = whole and not (held.cuts or held.nested or held.lost or warnings)
        advice = _ADVICE if idle else ""
        return f"no events{until}{_lost(held, whole)}{advice}"
    return (
        f"{units.count(held.events)} events{until}{_lost(held, whole)}, {units.size(held.size)}"
        f" ({held.size / held.events:.1f} bytes an event)"
    )


def _lost(held: Contents, whole: bool) -> str:
    if not held.lost:
        return ", none lost" if whole else ""
    kinds = ", ".join(f"{kind} {units.count(count)}" for kind, count in held.lost.items())
    return f", lost: {kinds}"
