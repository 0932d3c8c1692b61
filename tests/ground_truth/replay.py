"""The brute-force twin, third part: the state at an instant, by replaying everything before it.

Called for one instant after the other it is quadratic on purpose: nothing is carried from one
instant to the next, so nothing can be forgotten on the way.
"""

from __future__ import annotations

from ground_truth.inherited import inherit_from_main_thread, inherit_from_parent
from ground_truth.raw import Kind
from ground_truth.relations import AUTOMATIC as MARK
from ground_truth.relations import NONE
from ground_truth.rules import Rules
from ground_truth.state import (
    Called,
    Change,
    Closed,
    Crossing,
    Frame,
    Open,
    Path,
    State,
    ThreadState,
    innermost,
    is_collection,
    layer_in_frames,
    open_operations,
    own_path,
    process_path,
)
from ground_truth.streams import Event, Streams

OTHER = ("(other)",)
AUTOMATIC, EXPLICIT = "automatic", "explicit"


def replay(streams: Streams, now: int, rules: Rules) -> State:
    """The state once everything up to and including `now` has happened."""
    threads = {stream.number: ThreadState(stream) for stream in streams.threads}
    state = State(streams, rules, list(threads.values()))
    inherit_from_parent(state)
    for event in streams.events:
        if event.time_ns <= now:
            apply(state, threads[event.thread], event)
    return state


def finish(state: State) -> None:
    """The end of the process closes what is open."""
    if state.rules.open_at_the_end == "is left out":
        return
    for thread in state.threads:
        _close_all(state, thread, state.streams.end_ns, "process_end")


def apply(state: State, thread: ThreadState, event: Event) -> None:
    """One item; those outside of windows are ignored."""
    kind = event.item.kind
    if event.time_ns > thread.stream.life.end_ns:
        return
    inherit_from_main_thread(state, thread)
    if kind is Kind.WINDOW_STOP:
        _stop(state, event)
    elif kind is Kind.THREAD_END:
        _close_all(state, thread, event.time_ns, "thread_end")
    elif event.returns:
        _return(state, thread, event)
    elif state.streams.window_of(event.time_ns) is not None and kind in _EFFECTS:
        _EFFECTS[kind](state, thread, event)


# ---- windows and threads ----------------------------------------------------------------------


def _stop(state: State, event: Event) -> None:
    """The window's end: everything of every thread is closed."""
    if not any(window.end_ns == event.time_ns for window in state.streams.windows):
        return
    state.phase = NONE
    if state.rules.open_at_window_end == "closed":
        for thread in state.threads:
            _close_all(state, thread, event.time_ns, "window")


def _close_all(state: State, thread: ThreadState, now: int, ended: str) -> None:
    """Closes operations of all tasks, calls and callbacks; the running task stays."""
    for stack in thread.stacks.values():
        state.closed += [Closed(thread.stream.number, opened, now, ended) for opened in stack]
    thread.stacks = {}
    _close_automatic(state, thread, now, ended)
    while thread.frames:
        _pop_frame(state, thread, now)


def _gap(state: State, thread: ThreadState, event: Event) -> None:
    """Records were lost: what was open is not known any more."""
    _close_all(state, thread, event.time_ns, "gap")


# ---- operations -------------------------------------------------------------------------------


def _enter(state: State, thread: ThreadState, event: Event) -> None:
    name = event.item.name
    if state.rules.explicit_entry == "ends the automatic track":
        _close_automatic(state, thread, event.time_ns, "exit")
    around = innermost(thread, state.rules)
    path = (*around.path, name) if around else (name,)
    if around and around.name == name and state.rules.reentry == "keeps the path":
        path = around.path
    else:
        path = _allowed(state, path)
    phase = thread.phase if state.rules.phase == "of the thread" else state.phase
    thread.stack(thread.task).append(Open(name, path, event.time_ns, event.order, phase))
    state.entered.append(path)


def _allowed(state: State, path: Path) -> Path:
    """The path, or (other) when it would be one too many, or lies inside of that."""
    if state.rules.too_many_paths == "are kept" or path in state.entered:
        return path
    if path[:1] == OTHER:
        return OTHER
    if len(set(state.entered) - {OTHER}) < state.streams.process.most_paths:
        return path
    state.losses["paths"] += 1
    return OTHER


def _automatic(state: State, thread: ThreadState, event: Event) -> None:
    """A record of the automatic track, whose meaning depends on the whole stream."""
    if event.order not in thread.stream.automatic:
        return
    _close_automatic(state, thread, event.time_ns, "exit")
    name = thread.stream.automatic[event.order]
    if name:
        name += MARK
        phase = thread.phase if state.rules.phase == "of the thread" else state.phase
        path = _allowed(state, (name,))
        thread.automatic = Open(name, path, event.time_ns, event.order, phase)
        state.entered.append(path)


def _close_automatic(state: State, thread: ThreadState, now: int, ended: str) -> None:
    if thread.automatic is not None:
        state.closed.append(Closed(thread.stream.number, thread.automatic, now, ended))
        thread.automatic = None


def _task(state: State, thread: ThreadState, event: Event) -> None:
    thread.task = event.item.number


def _exit(state: State, thread: ThreadState, event: Event) -> None:
    """Looks in the stack of the running task, then in the one outside of tasks."""
    for task in dict.fromkeys((thread.task, 0)):
        stack = thread.stack(task)
        place = _place_to_close(stack, event.item.name, state.rules)
        if place is not None:
            top = open_operations(thread, state.rules)[-1:]
            if state.rules.exit_out_of_order == "is counted":
                state.losses["exit_out_of_order"] += [stack[place]] != top
            _close_operations(state, thread, stack, place, event.time_ns)
            return
    state.losses["exit_without_enter"] += state.rules.exit_without_enter != "is ignored"
    stack = thread.stack(thread.task)
    if stack and state.rules.exit_without_enter == "closes the innermost":
        _close_operations(state, thread, stack, len(stack) - 1, event.time_ns)


def _place_to_close(stack: list[Open], name: str, rules: Rules) -> int | None:
    if rules.exit_closes == "top of the stack":
        return len(stack) - 1 if stack else None
    places = [place for place, opened in enumerate(stack) if opened.name == name]
    if not places:
        return None
    return places[0] if rules.exit_closes == "first of the name" else places[-1]


def _close_operations(
    state: State, thread: ThreadState, stack: list[Open], place: int, now: int
) -> None:
    last = len(stack) if state.rules.exit_takes_along == "those above" else place + 1
    for opened in stack[place:last]:
        state.closed.append(Closed(thread.stream.number, opened, now, "exit"))
    del stack[place:last]


# ---- native calls, callbacks ------------------------------------------------------------------


def _call(state: State, thread: ThreadState, event: Event) -> None:
    function = event.item.name
    layer = state.streams.process.function_layers[function]
    outermost = not thread.frames or not thread.frames[-1].function
    if layer == "wait" and state.rules.wait_in_call == "is a frame of its own":
        outermost = True
    if is_collection(function) and state.rules.collection_in_call == "is a frame of its own":
        outermost = True
    own = own_path(thread, state.rules)
    _push_frame(state, thread, Frame(function, layer, event.time_ns, own, outermost, event.order))


def _probe_call(state: State, thread: ThreadState, event: Event) -> None:
    if state.rules.probe_calls == "are no calls":
        return
    function = min(state.streams.process.function_layers)
    call = event._replace(item=event.item._replace(name=function))
    _call(state, thread, call)
    _return(state, thread, call)


def _callback(state: State, thread: ThreadState, event: Event) -> None:
    frame = Frame("", "python", event.time_ns, own_path(thread, state.rules), True, event.order)
    _push_frame(state, thread, frame)


def _push_frame(state: State, thread: ThreadState, frame: Frame) -> None:
    before = layer_in_frames(state, thread, frame.start_ns)
    thread.frames.append(frame)
    after = layer_in_frames(state, thread, frame.start_ns)
    if frame.layer == "wait" and state.rules.wait_transitions == "are none":
        return
    if is_collection(frame.function) and state.rules.collection_transitions == "are none":
        return
    if not cuda_call_goes_on(state, thread, frame.start_ns):
        count_transition(state, thread, frame.start_ns, before, after)


def cuda_call_goes_on(state: State, thread: ThreadState, now: int) -> bool:
    """At one time a CUDA call ends before the items, and starts after them."""
    return any(
        call.start_ns < now < call.end_ns
        and state.streams.window_of(call.start_ns) == state.streams.window_of(now)
        for call in thread.stream.cuda_calls
    )


def count_transition(state: State, thread: ThreadState, now: int, before: str, after: str) -> None:
    if before != after:
        path = own_path(thread, state.rules) or ()
        if state.rules.transition_operation == "of the process":
            path = process_path(state)
        state.crossings.append(Crossing(now, path, before, after))


def _call_end(state: State, thread: ThreadState, event: Event) -> None:
    _leave(state, thread, event.time_ns, is_call=True)


def _callback_end(state: State, thread: ThreadState, event: Event) -> None:
    _leave(state, thread, event.time_ns, is_call=False)


def _leave(state: State, thread: ThreadState, now: int, *, is_call: bool) -> None:
    """Closes the innermost call, or callback, and what it should have outlived."""
    if all(bool(frame.function) != is_call for frame in thread.frames):
        state.losses["call_end_without_begin"] += 1
        return
    before = layer_in_frames(state, thread, now)
    rule = state.rules.improper_nesting
    above: list[Frame] = []
    while bool(thread.frames[-1].function) != is_call:
        state.losses["clamped"] += rule == "is closed and counted"
        if rule == "stays open":
            above.insert(0, thread.frames.pop())
        else:
            _pop_frame(state, thread, now)
    _pop_frame(state, thread, now)
    thread.frames += above
    if state.rules.transitions == "entries and returns":
        count_transition(state, thread, now, before, layer_in_frames(state, thread, now))


def _return(state: State, thread: ThreadState, event: Event) -> None:
    """Ends a complete call, unless something closed it before."""
    if thread.frames and thread.frames[-1].order == event.order:
        _pop_frame(state, thread, event.time_ns)


def _pop_frame(state: State, thread: ThreadState, now: int) -> None:
    frame = thread.frames.pop()
    counted = frame.outermost or state.rules.nested_calls == "are the innermost's"
    if frame.function and counted:
        state.called.append(Called(thread.stream.number, frame, now))


# ---- phases, iterations, progress -------------------------------------------------------------


def _phase(state: State, thread: ThreadState, event: Event) -> None:
    state.phase = thread.phase = event.item.name or NONE
    state.phases.append(_change(state, event.time_ns, event.item.name))


def _iteration(state: State, thread: ThreadState, event: Event) -> None:
    source = AUTOMATIC if event.item.number & 1 else EXPLICIT
    if source == AUTOMATIC and EXPLICIT in state.iterating:
        if state.rules.automatic_iterations == "end at the first explicit":
            return
    owning = state.iterating.setdefault(source, thread.stream.number)
    if owning != thread.stream.number and state.rules.iteration_thread == "first caller":
        state.losses["iteration_of_other_thread"] += 1
        return
    state.iterations.append(_change(state, event.time_ns, source))
    state.unseen.append(event.item.number & 2 != 0)


def _change(state: State, time_ns: int, value: str) -> Change:
    window = state.streams.window_of(time_ns)
    assert window is not None
    return Change(time_ns, value, window)


def _progress_total(state: State, thread: ThreadState, event: Event) -> None:
    thread.total = event.item.value


def _progress_done(state: State, thread: ThreadState, event: Event) -> None:
    state.progress.append((event.time_ns, event.item.value, thread.total))


_EFFECTS = {
    Kind.ENTER: _enter,
    Kind.EXIT: _exit,
    Kind.TASK: _task,
    Kind.PHASE: _phase,
    Kind.ITERATION: _iteration,
    Kind.PROGRESS_TOTAL: _progress_total,
    Kind.PROGRESS_DONE: _progress_done,
    Kind.GAP: _gap,
    Kind.CALL: _call,
    Kind.CALL_BEGIN: _call,
    Kind.CALL_END: _call_end,
    Kind.CALLBACK_BEGIN: _callback,
    Kind.CALLBACK_END: _callback_end,
    Kind.PROBE_RECORD: _probe_call,
    Kind.AUTO_SEGMENT: _automatic,
    Kind.AUTO_RESOLVE: _automatic,
}
