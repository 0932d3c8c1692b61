"""The brute-force twin of `state_reading`: what the threads did when they were asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ground_truth.pieces import Segment, process_key
from ground_truth.raw import Node, RawProcess
from ground_truth.relations import StateReading
from ground_truth.rules import Rules
from ground_truth.state import is_alive, owner, works_for
from ground_truth.training_loop import stage_at


def state_readings(
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
        key = process_key(segment)
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
