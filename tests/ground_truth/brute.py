"""The brute-force twin, last part: every relation of a process, from first principles.

Time is cut at every boundary of anything; the state of each elementary segment comes from a replay
of everything before it; rows are sums over segments. Clear, quadratic, and not one line of it is
shared with the C++ sweep or the SQL twin.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from itertools import count, pairwise, zip_longest
from typing import TypeVar

from ground_truth.bookkeeping import count_records
from ground_truth.called import count_cuda_transitions, native_calls, waits
from ground_truth.losses import count_losses
from ground_truth.missing import without_missing
from ground_truth.pieces import Segment, busy, is_gap, phase_of, process_key, segments_of
from ground_truth.raw import RawProcess
from ground_truth.relations import AUTOMATIC as MARK
from ground_truth.relations import (
    NONE,
    NOT_RECORDED,
    Breakdown,
    Bucket,
    Instance,
    Iteration,
    IterationTime,
    Life,
    Loss,
    Operation,
    Phase,
    Progress,
    Rows,
    ThreadBreakdown,
    Transition,
    Window,
)
from ground_truth.replay import AUTOMATIC, EXPLICIT, finish, replay
from ground_truth.rules import Rules
from ground_truth.state import (
    Change,
    Open,
    Path,
    State,
    ThreadState,
    innermost,
    is_alive,
    open_operations,
    owner,
    process_path,
    text,
    thread_layer,
)
from ground_truth.state_readings import state_readings
from ground_truth.streams import Streams, put_in_order
from ground_truth.training_loop import Moment, stage_at, training_loop

LEVELS = 4
RIGHT = Rules()

Key = TypeVar("Key", bound=Hashable)
Part = TypeVar("Part", bound=Hashable)


def tables(
    process: RawProcess,
    rules: Rules = RIGHT,
    *,
    buckets: int = 8,
    grid: tuple[int, int] | None = None,
) -> Rows:
    """Every relation of the process, sorted, as `raw.sweep` answers."""
    streams = put_in_order(without_missing(process, rules), rules)
    segments = segments_of(streams, rules)
    final = replay(streams, streams.end_ns, rules)
    count_cuda_transitions(streams, final)
    finish(final)
    iterations = _iterations(final)
    loop = _loop(segments, rules)
    bookkeeping, bookkeeping_by_thread = count_records(streams, rules, text, loop)
    found: Rows = {
        "operation": _operations(final),
        "operation_instance": _instances(final, segments),
        "breakdown": _breakdown(segments, loop),
        "breakdown_by_thread": _breakdown_by_thread(streams, segments),
        "state_reading": state_readings(process, segments, loop),
        "bookkeeping": bookkeeping,
        "bookkeeping_by_thread": bookkeeping_by_thread,
        "iteration_breakdown": _iteration_breakdown(final, segments),
        "timeline": _timeline(streams, segments, buckets, grid),
        "recording_window": [
            Window(window.start_ns, _length(window)) for window in streams.windows
        ],
        "phase": _phases(final),
        "iteration": iterations,
        "progress": [Progress(*row) for row in final.progress],
        "transition": _transitions(final, iterations),
        "native_call": native_calls(final, segments),
        "wait": waits(final, segments, loop),
        "loss": [
            Loss(kind, n) for kind, n in (final.losses + count_losses(process, rules)).items()
        ],
        "thread": [Life(each.number, *each.life) for each in streams.threads],
    }
    return {relation: sorted(rows) for relation, rows in found.items()}


def iterations_of(streams: Streams, rules: Rules) -> list[Iteration]:
    """The iterations of a process in order."""
    final = replay(streams, streams.end_ns, rules)
    finish(final)
    return _iterations(final)


def loop_of(streams: Streams, rules: Rules) -> tuple[int, int] | None:
    """Begin and end of the training loop, if there is one."""
    return _loop(segments_of(streams, rules), rules)


def _loop(segments: list[Segment], rules: Rules) -> tuple[int, int] | None:
    return training_loop([_moment(segment) for segment in segments], rules)


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


# ---- breakdowns and timeline ------------------------------------------------------------------


def _thread_key(segment: Segment, number: int) -> tuple[str, str, str, bool] | None:
    state, now = segment.state, segment.start_ns
    thread = next(each for each in state.threads if each.stream.number == number)
    if not is_alive(thread, now):
        return None
    if is_gap(segment):
        left_out = state.rules.between_windows == "left out"
        return None if left_out else (NONE, NOT_RECORDED, "none", busy(segment))
    opened = innermost(thread, state.rules)
    layer = thread_layer(state, thread, now) if segment.recorded else "none"
    return phase_of(segment, opened), text(opened.path if opened else ()), layer, busy(segment)


def _breakdown(segments: list[Segment], loop: tuple[int, int] | None) -> list[Breakdown]:
    """A stretch counts in the stage in which it begins."""
    keyed = [(process_key(segment), segment) for segment in segments]
    sums = _summed(keyed, lambda segment: _stage(segment, loop))
    return [Breakdown(stage, *key, *sums[stage, key]) for stage, key in sums]


def _stage(segment: Segment, loop: tuple[int, int] | None) -> str:
    key = process_key(segment)
    return stage_at(segment.start_ns, loop, key[1] if key else NONE, segment.state.rules)


def _moment(segment: Segment) -> Moment:
    span = segment.start_ns, segment.end_ns, segment.recorded
    owning = owner(segment.state)
    if is_gap(segment) or owning is None:
        return Moment(*span)
    outermost = open_operations(owning, segment.state.rules)[0]
    return Moment(*span, outermost.path, process_path(segment.state))


def _breakdown_by_thread(streams: Streams, segments: list[Segment]) -> list[ThreadBreakdown]:
    rows = []
    for thread in streams.threads:
        keyed = [(_thread_key(segment, thread.number), segment) for segment in segments]
        sums = _summed(keyed, lambda _: None)
        rows += [ThreadBreakdown(thread.number, *key, *sums[part, key]) for part, key in sums]
    return rows


def _summed(
    keyed: list[tuple[Key | None, Segment]], part_of: Callable[[Segment], Part]
) -> dict[tuple[Part, Key], tuple[int, int]]:
    """Duration and number of separate stretches of each key in each part of time."""
    durations: Counter[tuple[Part, Key]] = Counter()
    counts: Counter[tuple[Part, Key]] = Counter()
    before: Key | None = None
    for key, segment in keyed:
        if key is not None:
            row = part_of(segment), key
            durations[row] += segment.duration_ns
            counts[row] += key != before or segment.state.rules.stretches == "of boundaries"
        before = key
    return {row: (durations[row], counts[row]) for row in durations}


def _iteration_breakdown(final: State, segments: list[Segment]) -> list[IterationTime]:
    sums: Counter[tuple[int, str, str, bool]] = Counter()
    for segment in segments:
        key = process_key(segment)
        if key is not None:
            iteration = _iteration_at(final, _instant_for_iteration(segment))
            sums[(iteration, *key[1:])] += segment.duration_ns
    return [IterationTime(*key, duration) for key, duration in sums.items()]


def _instant_for_iteration(segment: Segment) -> int:
    owning = owner(segment.state)
    opened = innermost(owning, segment.state.rules) if owning else None
    if opened and segment.recorded and segment.state.rules.iteration_edges == "by the instance":
        return opened.enter_ns
    return segment.start_ns


def _timeline(
    streams: Streams, segments: list[Segment], buckets: int, grid: tuple[int, int] | None
) -> list[Bucket]:
    """`grid`: the time that level 0 is for, the process's own by default."""
    own = (streams.start_ns, streams.end_ns)
    origin, end = grid or own
    zero = next(bits for bits in count() if _touched(origin, end, origin, 1 << bits) <= buckets)
    finest = zero
    while own[0] < own[1] and finest and _touched(*own, origin, 1 << finest - 1) <= buckets:
        finest -= 1
    sums: Counter[tuple[int, int, int, str, str, bool]] = Counter()
    for bits in range(finest, zero + LEVELS):
        for segment in segments:
            key = process_key(segment)
            for start, duration in _shares(segment, origin, 1 << bits) if key else ():
                sums[(bits - zero, start, 1 << bits, *key[1:])] += duration
    return [Bucket(*key, duration) for key, duration in sums.items()]


def _touched(start: int, end: int, origin: int, width: int) -> int:
    """Buckets of that width that hold some of the time from start to end."""
    if start >= end:
        return 0
    return len(range((start - origin) // width, (end - 1 - origin) // width + 1))


def _shares(segment: Segment, origin: int, width: int) -> Iterable[tuple[int, int]]:
    """(start of a bucket, nanoseconds of the segment in it)."""
    bucket = origin + (segment.start_ns - origin) // width * width
    if segment.state.rules.bucket_edges == "by start":
        yield bucket, segment.duration_ns
        return
    while bucket < segment.end_ns:
        start, end = max(bucket, segment.start_ns), min(bucket + width, segment.end_ns)
        yield bucket, end - start
        bucket += width


# ---- operations -------------------------------------------------------------------------------


def _operations(final: State) -> list[Operation]:
    rows = [Operation(NONE, None, NONE, 0, 0, EXPLICIT)]
    if any(a.end_ns < b.start_ns for a, b in pairwise(final.streams.windows)):
        rows.append(Operation(NOT_RECORDED, None, NOT_RECORDED, 1, 0, EXPLICIT))
    for path, instances in Counter(final.entered).items():
        parent = text(path[:-1]) if path[:-1] else None
        source = AUTOMATIC if path[-1].endswith(MARK) else EXPLICIT
        rows.append(Operation(text(path), parent, path[-1], len(path), instances, source))
    return rows


def _instances(final: State, segments: list[Segment]) -> list[Instance]:
    self_ns: Counter[tuple[int, int]] = Counter()
    for segment in segments:
        for thread in segment.state.threads:
            for opened in _gaining(segment, thread):
                self_ns[thread.stream.number, opened.order] += segment.duration_ns
    rows = []
    for number, opened, end, ended in final.closed:
        at = end if final.rules.instance_iteration == "where it ended" else opened.enter_ns
        iteration = _iteration_at(final, at)
        own = self_ns[number, opened.order]
        path = text(opened.path)
        duration = end - opened.enter_ns
        if not duration and final.rules.zero_length == "is left out":
            continue
        rows.append(Instance(number, path, iteration, opened.enter_ns, duration, own, ended))
    return rows


def _gaining(segment: Segment, thread: ThreadState) -> list[Open]:
    """The instances whose self time this segment is."""
    rule = segment.state.rules.self_time
    if rule == "all":
        below = [thread.automatic] if thread.automatic else []
        return below + [opened for stack in thread.stacks.values() for opened in stack]
    if rule == "innermost" and not thread.automatic:
        return [stack[-1] for stack in thread.stacks.values() if stack]
    opened = innermost(thread, segment.state.rules)
    return [opened] if opened else []


# ---- phases and iterations --------------------------------------------------------------------


def _with_ends(final: State, changes: list[Change]) -> list[tuple[Change, int, bool]]:
    """Each change with its end and whether another change of the same window ended it."""
    rows = []
    for change, after in zip_longest(changes, changes[1:]):
        followed = after is not None and after.window == change.window
        end = after.time_ns if followed else final.streams.windows[change.window].end_ns
        rows.append((change, end, followed))
    return rows


def _phases(final: State) -> list[Phase]:
    return [
        Phase(change.value, change.time_ns, end - change.time_ns)
        for change, end, _ in _with_ends(final, final.phases)
        if change.value
    ]


def _iterations(final: State) -> list[Iteration]:
    return [
        Iteration(
            number,
            change.time_ns,
            end - change.time_ns,
            followed or final.rules.last_iteration == "is complete",
            followed and not _is_unseen(final, number),
            change.value,
        )
        for number, (change, end, followed) in enumerate(_with_ends(final, final.iterations))
    ]


def _is_unseen(final: State, iteration: int) -> bool:
    """Whether some GPU work of it was not recorded: the begin of the next one says so."""
    return final.unseen[iteration + (final.rules.gpu_recorded == "by the next record")]


def _transitions(final: State, iterations: list[Iteration]) -> list[Transition]:
    """Counts, and rates by the iterations that hold the time of the entry."""
    counted = [row for row in iterations if row.complete or final.rules.per_iteration == "all"]
    counted = _for_rates(counted, iterations, final.rules)
    spans = {
        "those in complete iterations": [row for row in counted if row.complete],
        "those in iterations": _for_rates(iterations, iterations, final.rules),
        "all": None,
    }[final.rules.rate_counts]
    counts: Counter[tuple[Path, str, str]] = Counter()
    inside: Counter[tuple[Path, str, str]] = Counter()
    for time_ns, path, before, after in final.crossings:
        counts[path, before, after] += 1
        held = spans is None or any(_holds(row, time_ns) for row in spans)
        inside[path, before, after] += held
    rates = {key: inside[key] / len(counted) if counted else None for key in counts}
    return [Transition(text(key[0]), *key[1:], counts[key], rates[key]) for key in counts]


def _holds(row: Iteration, time_ns: int) -> bool:
    return row.start_ns <= time_ns < row.start_ns + row.duration_ns


def _for_rates(rows: list[Iteration], found: list[Iteration], rules: Rules) -> list[Iteration]:
    """Those that a rate per iteration is about: the program's own if it has any in `found`."""
    explicit = any(row.source == EXPLICIT for row in found)
    if explicit and rules.automatic_rates == "only without explicit ones":
        return [row for row in rows if row.source == EXPLICIT]
    return rows


def _iteration_at(final: State, now: int) -> int:
    number = bisect_right([change.time_ns for change in final.iterations], now) - 1
    if final.rules.before_first_iteration == "is the first" and final.iterations:
        number = max(number, 0)
    if number < 0 or final.iterations[number].window != final.streams.window_of(now):
        return -1
    return number
