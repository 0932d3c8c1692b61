"""The brute-force twin of calls: native ones, waits, and the crossings into CUDA."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ground_truth.pieces import Segment
from ground_truth.relations import NativeCall, Wait
from ground_truth.replay import count_transition, replay
from ground_truth.rules import Rules
from ground_truth.state import Called, State, in_cuda_call, layer_in_frames, process_path, text
from ground_truth.streams import Streams
from ground_truth.training_loop import stage_at


def count_cuda_transitions(streams: Streams, final: State) -> None:
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


def native_calls(final: State, segments: list[Segment]) -> list[NativeCall]:
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


def waits(final: State, segments: list[Segment], loop: tuple[int, int] | None) -> list[Wait]:
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
        length = last.end_ns - last.frame.start_ns
        own = each.end_ns - each.frame.start_ns
        is_short = not _is_turn(each) and 100 * own <= length
        if each.frame.function == "gil":
            continue
        if is_short and rules.short_in_series == "is passed over":
            continue
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
