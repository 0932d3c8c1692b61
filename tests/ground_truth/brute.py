"""The brute-force twin, last part: every relation of a process, from first principles.

Time is cut at every boundary of anything; the state of each elementary segment comes from a replay
of everything before it; rows are sums over segments. Clear, quadratic, and not one line of it is
shared with the C++ sweep or the SQL twin.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise, zip_longest
from typing import TypeVar

from ground_truth.bookkeeping import count_records
from ground_truth.losses import count_losses
from ground_truth.missing import without_missing
from ground_truth.raw import Node, RawProcess
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
    NativeCall,
    Operation,
    Phase,
    Progress,
    Rows,
    StateReading,
    ThreadBreakdown,
    Transition,
    Wait,
    Window,
)
from ground_truth.replay import AUTOMATIC, EXPLICIT, count_transition, finish, replay
from ground_truth.rules import Rules
from ground_truth.state import (
    Called,
    Change,
    Open,
    Path,
    State,
    ThreadState,
    gpu_busy,
    in_cuda_call,
    innermost,
    is_alive,
    layer_in_frames,
    open_operations,
    owner,
    process_layer,
    process_path,
    thread_layer,
    works_for,
)
from ground_truth.streams import Streams, put_in_order
from ground_truth.training_loop import Moment, stage_at, training_loop

LEVELS = 4
RIGHT = Rules()

Key = TypeVar("Key", bound=Hashable)
Part = TypeVar("Part", bound=Hashable)


@dataclass(frozen=True)
class Segment:
    """A stretch of time in which nothing changes."""

    start_ns: int
    end_ns: int
    state: State
    recorded: bool

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


def tables(
    process: RawProcess,
    rules: Rules = RIGHT,
    *,
    buckets: int = 8,
    grid: tuple[int, int] | None = None,
) -> Rows:
    """Every relation of the process, sorted, as `raw.sweep` answers."""
    streams = put_in_order(without_missing(process, rules), rules)
    segments = _segments(streams, rules)
    final = replay(streams, streams.end_ns, rules)
    _count_cuda_transitions(streams, final)
    finish(final)
    iterations = _iterations(final)
    loop = _loop(segments, rules)
    bookkeeping, bookkeeping_by_thread = count_records(streams, rules, text, loop)
    found: Rows = {
        "operation": _operations(final),
        "operation_instance": _instances(final, segments),
        "breakdown": _breakdown(segments, loop),
        "breakdown_by_thread": _breakdown_by_thread(streams, segments),
        "state_reading": _state_readings(process, segments, loop),
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
        "native_call": _native_calls(final, segments),
        "wait": _waits(final, segments, loop),
        "loss": [
            Loss(kind, n) for kind, n in (final.losses + count_losses(process, rules)).items()
        ],
        "thread": [Life(each.number, *each.life) for each in streams.threads],
    }
    return {relation: sorted(rows) for relation, rows in found.items()}


def loop_of(streams: Streams, rules: Rules) -> tuple[int, int] | None:
    """Begin and end of the training loop, if there is one."""
    return _loop(_segments(streams, rules), rules)


def _loop(segments: list[Segment], rules: Rules) -> tuple[int, int] | None:
    return training_loop([_moment(segment) for segment in segments], rules)


def text(path: Path) -> str:
    """Names joined by "/", with "\\" and "/" in a name escaped."""
    escaped = [name.replace("\\", "\\\\").replace("/", "\\/") for name in path]
    return "/".join(escaped) or NONE


def _length(span: tuple[int, int]) -> int:
    return span[1] - span[0]


# ---- segments ---------------------------------------------------------------------------------


def _segments(streams: Streams, rules: Rules) -> list[Segment]:
    cuts = {cut for cut in _boundaries(streams) if streams.start_ns <= cut <= streams.end_ns}
    return [
        Segment(start, end, replay(streams, start, rules), streams.window_of(start) is not None)
        for start, end in pairwise(sorted(cuts))
    ]


def _boundaries(streams: Streams) -> Iterable[int]:
    yield from (streams.start_ns, streams.end_ns)
    yield from (event.time_ns for event in streams.events)
    yield from (edge for window in streams.windows for edge in window)
    yield from (edge for span, _ in streams.gpu for edge in span)
    for thread in streams.threads:
        yield from thread.life
        yield from (edge for call in thread.cuda_calls for edge in call)
    ends = (streams.process.python_begin_ns, streams.process.python_end_ns)
    yield from (edge for edge in ends if edge is not None)


def _is_gap(segment: Segment) -> bool:
    return not segment.recorded and segment.state.rules.between_windows != "(none)"


def _busy(segment: Segment) -> bool:
    counts = segment.recorded or segment.state.rules.gpu_between_windows == "counts"
    return counts and gpu_busy(segment.state, segment.start_ns)


def _phase(segment: Segment, owning: Open | None) -> str:
    if segment.state.rules.phase == "splits operations" or owning is None:
        return segment.state.phase
    return owning.phase


# ---- breakdowns and timeline ------------------------------------------------------------------


def _process_key(segment: Segment) -> tuple[str, str, str, bool] | None:
    state = segment.state
    if _is_gap(segment):
        left_out = state.rules.between_windows == "left out"
        return None if left_out else (NONE, NOT_RECORDED, "none", _busy(segment))
    owning = owner(state)
    opened = innermost(owning, state.rules) if owning else None
    layer = process_layer(state, segment.start_ns) if segment.recorded else "none"
    return _phase(segment, opened), text(process_path(state)), layer, _busy(segment)


def _thread_key(segment: Segment, number: int) -> tuple[str, str, str, bool] | None:
    state, now = segment.state, segment.start_ns
    thread = next(each for each in state.threads if each.stream.number == number)
    if not is_alive(thread, now):
        return None
    if _is_gap(segment):
        left_out = state.rules.between_windows == "left out"
        return None if left_out else (NONE, NOT_RECORDED, "none", _busy(segment))
    opened = innermost(thread, state.rules)
    layer = thread_layer(state, thread, now) if segment.recorded else "none"
    return _phase(segment, opened), text(opened.path if opened else ()), layer, _busy(segment)


def _breakdown(segments: list[Segment], loop: tuple[int, int] | None) -> list[Breakdown]:
    """A stretch counts in the stage in which it begins."""
    keyed = [(_process_key(segment), segment) for segment in segments]
    sums = _summed(keyed, lambda segment: _stage(segment, loop))
    return [Breakdown(stage, *key, *sums[stage, key]) for stage, key in sums]


def _stage(segment: Segment, loop: tuple[int, int] | None) -> str:
    key = _process_key(segment)
    return stage_at(segment.start_ns, loop, key[1] if key else NONE, segment.state.rules)


def _moment(segment: Segment) -> Moment:
    span = segment.start_ns, segment.end_ns, segment.recorded
    owning = owner(segment.state)
    if _is_gap(segment) or owning is None:
        return Moment(*span)
    outermost = open_operations(owning, segment.state.rules)[0]
    return Moment(*span, outermost.path, process_path(segment.state))


def _state_readings(
    process: RawProcess, segments: list[Segment], loop: tuple[int, int] | None
) -> list[StateReading]:
    """A reading belongs to what was just before it."""
    readings: Counter[tuple[str, str, str, str]] = Counter()
    blocked: Counter[tuple[str, str, str, str]] = Counter()
    late = segments[0].state.rules.reading == "of what begins then" if segments else False
    for time_ns, awake in process.states:
        at = time_ns if late else time_ns - 1
        segment = next((each for each in segments if each.start_ns <= at < each.end_ns), None)
        if segment is None or not segment.recorded or time_ns >= segments[-1].end_ns:
            continue
        key = _process_key(segment)
        assert key is not None
        stack = _stack(process, segment, process.stacks.get(time_ns, {}))
        row = stage_at(at, loop, key[1], segment.state.rules), key[1], key[2], stack
        readings[row] += 1
        blocked[row] += not _is_awake(segment, awake)
    return [StateReading(*row, n, blocked[row]) for row, n in readings.items()]


def _stack(process: RawProcess, segment: Segment, nodes: Mapping[int, int]) -> str:
    """That of the owner, or of the main thread if nobody owns the process."""
    state, rules = segment.state, segment.state.rules
    main = next((each for each in state.threads if each.stream.is_main), None)
    owning = None if rules.stack_of == "the main thread only" else owner(state)
    if owning is None and rules.stack_of != "the owner only":
        owning = main
    number = nodes.get(owning.stream.number, 0) if owning else 0
    return stack_text(process.nodes, number, rules) or ""


def stack_text(nodes: Sequence[Node], number: int, rules: Rules) -> str | None:
    """None: the node is not known, or one of its callers."""
    if not 1 <= number <= len(nodes) or not nodes[number - 1].function:
        return None
    node = nodes[number - 1]
    here = f"{node.function}:{node.line}"
    if not node.parent:
        return here
    above = stack_text(nodes, node.parent, rules) if node.parent < number else None
    if above is None:
        return None if rules.unknown_callers == "no stack" else here
    return f"{above};{here}"


def _is_awake(segment: Segment, awake: frozenset[int]) -> bool:
    """Whether a thread that counts is awake: the owner, or one that works for it."""
    state, rules = segment.state, segment.state.rules
    owning = owner(state)
    return any(
        each.stream.number in awake
        and is_alive(each, segment.start_ns)
        and (
            each is owning
            or rules.awake == "any thread"
            or (rules.awake == "those that count" and works_for(each, owning, rules))
        )
        for each in state.threads
    )


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
        key = _process_key(segment)
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
            key = _process_key(segment)
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
            change.value,
        )
        for number, (change, end, followed) in enumerate(_with_ends(final, final.iterations))
    ]


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


# ---- calls ------------------------------------------------------------------------------------


def _count_cuda_transitions(streams: Streams, final: State) -> None:
    """A CUDA call starts after the items of its instant."""
    for thread in streams.threads:
        for call in thread.cuda_calls:
            if streams.window_of(call.start_ns) is None:
                continue
            state = replay(streams, call.start_ns, final.rules)
            state.crossings = final.crossings
            caller = next(each for each in state.threads if each.stream is thread)
            layer = layer_in_frames(state, caller, call.start_ns)
            count_transition(state, caller, call.start_ns, layer, "cuda_api")


def _native_calls(final: State, segments: list[Segment]) -> list[NativeCall]:
    self_ns = _self_times(segments)
    totals: dict[tuple[str, str, str], list[int]] = {}
    for number, frame, end in final.called:
        if frame.layer == "wait":
            continue
        path = frame.operation
        if path is None and _takes_the_owners(final, number):
            path = process_path(replay(final.streams, frame.start_ns, final.rules))
        row = totals.setdefault((frame.function, frame.layer, text(path or ())), [0, 0, 0])
        own = self_ns[number, frame.order]
        inclusive = final.rules.native_self == "inclusive"
        duration = end - frame.start_ns
        for place, value in enumerate((1, duration, duration if inclusive else own)):
            row[place] += value
    return [NativeCall(*key, *row) for key, row in totals.items()]


def _waits(final: State, segments: list[Segment], loop: tuple[int, int] | None) -> list[Wait]:
    """A wait counts in the stage in which it ends."""
    rules = final.rules
    self_ns = _self_times(segments)
    totals: dict[tuple[str, int, str, str], list[int]] = {}
    waits = [called for called in final.called if called.frame.layer == "wait"]
    for called in waits:
        number, frame, end = called
        path = frame.operation
        if path is None and rules.wait_operation == "takes the owner's":
            path = process_path(replay(final.streams, frame.start_ns, rules))
        operation = text(path or ())
        at = end - 1 if rules.wait_stage == "in which it ends" else frame.start_ns
        stage = stage_at(at, loop, operation, rules)
        function = _ending(called, waits, rules).frame.function
        row = totals.setdefault((stage, number, function, operation), [0, 0, 0])
        duration = end - frame.start_ns
        own = duration if rules.wait_self == "inclusive" else self_ns[number, frame.order]
        for place, value in enumerate((1, duration, own)):
            row[place] += value
    return [Wait(*key, *row) for key, row in totals.items()]


def _ending(turn: Called, waits: Sequence[Called], rules: Rules) -> Called:
    """The wait that says what this one was for: the end of the series of polls in which it is."""
    if rules.repeated_polls == "are for time" or not _is_turn(turn):
        return turn
    after = waits[waits.index(turn) + 1 :]
    of_thread = (each for each in after if each.thread == turn.thread)
    last = turn
    for each in of_thread:
        if each.frame.function == "gil":
            continue
        length = last.end_ns - last.frame.start_ns
        goes_on = (
            _polled(each) == _polled(turn)
            and (each.frame.operation or ()) == (turn.frame.operation or ())
            and 10 * (each.frame.start_ns - last.end_ns) <= length
        )
        if not goes_on:
            break
        if not _is_turn(each):
            return each
        last = each
    return turn


def _is_turn(wait: Called) -> bool:
    return wait.frame.function.startswith("sleep|")


def _polled(wait: Called) -> str:
    return wait.frame.function.partition("|")[2]


def _takes_the_owners(final: State, number: int) -> bool:
    """Whether calls that a thread makes outside of operations are the process owner's."""
    rules = final.rules
    caller = next(each for each in final.threads if each.stream.number == number)
    is_excepted = caller.stream.is_main and rules.main_without_operation == "is (none)"
    return rules.no_operation == "takes the owner's" and not is_excepted


def _self_times(segments: list[Segment]) -> Counter[tuple[int, int]]:
    """Per call, the time in which it is the innermost of calls and callbacks and no CUDA call is
    open; a call inside a call without a callback between is part of the outer one."""
    found: Counter[tuple[int, int]] = Counter()
    for segment in segments:
        for thread in segment.state.threads:
            frames = thread.frames
            cuda = in_cuda_call(segment.state, thread, segment.start_ns)
            if cuda and segment.state.rules.native_self == "without callbacks and CUDA":
                continue
            if frames and frames[-1].function:
                frame = [each for each in frames if each.outermost][-1]
                found[thread.stream.number, frame.order] += segment.duration_ns
    return found
