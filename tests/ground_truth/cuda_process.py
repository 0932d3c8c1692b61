"""A process with its CUDA calls found: what the brute-force twin of cuda.py asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ground_truth.missing import without_missing
from ground_truth.raw import CudaCall, Gpu, GpuWork, RawProcess
from ground_truth.relations import NONE, UNLINKED
from ground_truth.replay import replay
from ground_truth.rules import CudaRules
from ground_truth.state import Path, own_path, process_path, text
from ground_truth.streams import Span, Stream, Streams, put_in_order

WORK = (Gpu.KERNEL, Gpu.MEMCPY, Gpu.MEMSET, Gpu.GRAPH)


class Call(NamedTuple):
    """A CUDA call as it counts."""

    span: Span
    operation: str
    raw: CudaCall


@dataclass(frozen=True)
class Cuda:
    """A process, with its calls found."""

    streams: Streams
    rules: CudaRules
    calls: list[Call]

    @property
    def work(self) -> list[GpuWork]:
        """Everything that keeps a GPU busy, in order of start."""
        works = [work for work in self.streams.process.gpu if work.kind in WORK]
        return sorted(works, key=lambda work: work.start_ns)

    def launch_of(self, work: GpuWork) -> Call | None:
        found = [call for call in self.calls if call.raw.correlation == work.correlation]
        return found[0] if found and work.correlation else None

    def operation_of(self, work: GpuWork) -> str:
        """The operation that GPU work belongs to."""
        launch = self.launch_of(work)
        if launch is None:
            return UNLINKED if self.rules.work_without_launch == "is (unlinked)" else NONE
        if self.rules.work_operation == "of its launch":
            return launch.operation
        return owner_at(self.streams, work.start_ns, self.rules)

    def counts(self, work: GpuWork) -> bool:
        """Whether part of it lies in a window; the process's own ends are no edges."""
        if self.rules.work_outside_windows == "counts":
            return True
        streams = self.streams
        for number, window in enumerate(streams.windows):
            first = number == 0 and window.start_ns == streams.process.start_ns
            last = number == len(streams.windows) - 1 and not streams.stopped
            begun = first or max(work.end_ns, work.start_ns + 1) > window.start_ns
            if begun and (last or work.start_ns < window.end_ns):
                return True
        return False

    def duration_of(self, work: GpuWork) -> int:
        if self.rules.work_at_window_end == "is whole":
            return work.end_ns - work.start_ns
        return sum(
            max(0, min(work.end_ns, end) - max(work.start_ns, start))
            for start, end in self.streams.windows
        )

    def segments(self, spans: Iterable[tuple[int, int]]) -> Iterator[Span]:
        """Recorded stretches between the boundaries of anything and of `spans`."""
        streams = self.streams
        cuts = {edge for span in [*spans, *streams.windows] for edge in span}
        cuts |= {event.time_ns for event in streams.events}
        cuts |= {edge for work in streams.process.gpu for edge in work[:2]}
        for start, end in pairwise(sorted(cuts)):
            if not streams.start_ns <= start < streams.end_ns:
                continue
            everything = self.rules.gpu_time_between_windows == "counts"
            if everything or streams.window_of(start) is not None:
                yield Span(start, end)


def find_calls(process: RawProcess, rules: CudaRules) -> Cuda:
    """The process in order, with the operations of its calls."""
    streams = put_in_order(without_missing(process, rules), rules)
    calls = [call for thread in streams.threads for call in _calls(streams, thread, rules)]
    return Cuda(streams, rules, calls)


def _calls(streams: Streams, thread: Stream, rules: CudaRules) -> Iterator[Call]:
    """Recorded calls of one thread, cut at the end of their window."""
    for span, raw in zip(thread.cuda_calls, thread.raw.cuda_calls, strict=False):
        window = streams.window_of(span.start_ns)
        if window is None:
            continue
        end = min(span.end_ns, streams.windows[window].end_ns)
        if rules.call_at_window_end == "is whole":
            end = span.end_ns
        instant = span.start_ns if rules.call_operation == "at its start" else end
        operation = _operation_at(streams, thread, instant, rules)
        yield Call(Span(span.start_ns, end), text(operation or ()), raw)


def _operation_at(streams: Streams, thread: Stream, now: int, rules: CudaRules) -> Path | None:
    """The innermost operation of the thread, else the owner's; not so of the main thread."""
    state = replay(streams, now, rules)
    caller = next(each for each in state.threads if each.stream is thread)
    own = own_path(caller, rules)
    is_excepted = thread.is_main and rules.main_call_without_operation == "is (none)"
    takes_the_owners = rules.call_without_operation == "takes the owner's" and not is_excepted
    return process_path(state) if own is None and takes_the_owners else own


def owner_at(streams: Streams, now: int, rules: CudaRules) -> str:
    return text(process_path(replay(streams, now, rules)))
