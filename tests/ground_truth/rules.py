"""The rules of docs/reference/semantics.md that the brute-force twin can break, one field each.

The first value of a field, its default, is the right rule; every other one is a mutation. The
mutation test sets one field at a time and demands that the comparison with the C++ sweep notices.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints


@dataclass(frozen=True)
class Rules:
    # Operations of a thread, and tasks.
    innermost: Literal["latest entered", "outermost"] = "latest entered"
    exit_closes: Literal["latest of the name", "top of the stack", "first of the name"] = (
        "latest of the name"
    )
    exit_takes_along: Literal["nothing", "those above"] = "nothing"
    exit_out_of_order: Literal["is counted", "is not counted"] = "is counted"
    exit_without_enter: Literal["is ignored and counted", "is ignored", "closes the innermost"] = (
        "is ignored and counted"
    )
    new_thread: Literal["starts empty", "starts with what is open on the main thread"] = (
        "starts empty"
    )
    fork_child: Literal["starts empty", "starts with what its parent had open"] = "starts empty"
    phase_of_fork_child: Literal["(none)", "its parent's"] = "(none)"
    open_at_the_end: Literal["is closed", "is left out"] = "is closed"
    zero_length: Literal["is counted", "is left out"] = "is counted"
    reentry: Literal["keeps the path", "grows the path"] = "keeps the path"
    suspended_task: Literal["owns nothing", "keeps owning"] = "owns nothing"
    task_stack: Literal["on top of the thread's", "alone", "below the thread's"] = (
        "on top of the thread's"
    )
    missing_chunks: Literal["close, what was open begins again", "close", "change nothing"] = (
        "close, what was open begins again"
    )
    too_many_paths: Literal["go to (other)", "are kept"] = "go to (other)"
    # Automatic operations.
    resolve: Literal["of all segments", "of the last segment"] = "of all segments"
    resolved_segment: Literal["ends", "runs on"] = "ends"
    without_gradients: Literal["has names of its own", "is backprop"] = "has names of its own"
    touching_segments: Literal["are one instance", "are one each"] = "are one instance"
    unresolved: Literal["forwards are inference", "all is inference", "all is (none)"] = (
        "forwards are inference"
    )
    evaluation: Literal[
        "holds all to its last step", "holds its steps", "holds all until it is known", "is none"
    ] = "holds all to its last step"
    evaluation_without_steps: Literal["holds all to its last forward", "is none"] = (
        "holds all to its last forward"
    )
    explicit_entry: Literal["ends the automatic track", "leaves it"] = "ends the automatic track"
    # The process view.
    main_thread: Literal["owns first", "is like any other"] = "owns first"
    owner: Literal["first begun", "last begun", "lowest thread"] = "first begun"
    owner_tie: Literal["lower thread", "higher thread"] = "lower thread"
    layer_of: Literal["owner and threads without operations", "owner only", "all threads"] = (
        "owner and threads without operations"
    )
    layer: Literal["deepest", "shallowest"] = "deepest"
    main_thread_lends: Literal["to no worker", "to the owner"] = "to no worker"
    # The training loop.
    loop: Literal["of its operations", "of all operations", "of the first alone"] = (
        "of its operations"
    )
    warm_up: Literal["is no share", "is in the loop"] = "is no share"
    # Set-up pauses.
    set_up_pauses: Literal[
        "the last begins the loop", "the first begins the loop", "are in the loop"
    ] = "the last begins the loop"
    length_of_a_gap: Literal["recorded time", "all time"] = "recorded time"
    length_of_warm_up: Literal["none", "all time"] = "none"
    long_pause: Literal[
        "a tenth of the time before", "half of the time before", "any", "of the process"
    ] = "a tenth of the time before"
    trials: Literal["63 stretches", "64 stretches", "any number"] = "63 stretches"
    learning: Literal["in the loop", "does not matter", "has forwards", "is anywhere"] = (
        "in the loop"
    )
    news: Literal["from its end on", "after the first operation", "do not matter"] = (
        "from its end on"
    )
    again: Literal["two", "one", "three", "does not matter"] = "two"
    later_pause: Literal["idle part", "whole"] = "idle part"
    # Readings of which threads were awake.
    reading: Literal["of what was before", "of what begins then"] = "of what was before"
    awake: Literal["those that count", "the owner only", "any thread"] = "those that count"
    stack_of: Literal[
        "the owner, else the main thread", "the owner only", "the main thread only"
    ] = "the owner, else the main thread"
    unknown_callers: Literal["no stack", "the part below them"] = "no stack"
    # Layers of a thread.
    thread_before_first_record: Literal["does not exist", "is python"] = "does not exist"
    thread_after_its_end: Literal["does not exist", "lives on"] = "does not exist"
    python_until: Literal["finalisation", "process end"] = "finalisation"
    python_threads: Literal["of the interpreter", "all"] = "of the interpreter"
    callback: Literal["is python", "is the library still"] = "is python"
    nested_calls: Literal["belong to the outermost", "are the innermost's"] = (
        "belong to the outermost"
    )
    # Probes.
    probe_calls: Literal["are no calls", "are calls"] = "are no calls"
    # Waits.
    wait_layer: Literal["below python", "deepest"] = "below python"
    wait_in_call: Literal["is a frame of its own", "belongs to the outermost"] = (
        "is a frame of its own"
    )
    # Collections of garbage.
    collection_in_call: Literal["is a frame of its own", "belongs to the outermost"] = (
        "is a frame of its own"
    )
    collection_transitions: Literal["are none", "are counted"] = "are none"
    wait_operation: Literal["of the thread", "takes the owner's"] = "of the thread"
    wait_transitions: Literal["are none", "are counted"] = "are none"
    repeated_polls: Literal["are for what ends them", "are for time"] = "are for what ends them"
    short_in_series: Literal["is passed over", "ends it"] = "is passed over"
    wait_stage: Literal["in which it ends", "in which it begins"] = "in which it ends"
    wait_self: Literal["without waits inside", "inclusive"] = "without waits inside"
    # The GPU.
    gpu: Literal["union", "two at once"] = "union"
    gpu_kinds: Literal["work", "work and synchronisation"] = "work"
    gpu_between_windows: Literal["is not busy", "counts"] = "is not busy"
    # Windows, phases, iterations.
    between_windows: Literal["(not recorded)", "(none)", "left out"] = "(not recorded)"
    open_at_window_end: Literal["closed", "stays open"] = "closed"
    phase: Literal["splits operations", "as at the operation's begin", "of the thread"] = (
        "splits operations"
    )
    iteration_thread: Literal["first caller", "any"] = "first caller"
    automatic_iterations: Literal["end at the first explicit", "go on"] = (
        "end at the first explicit"
    )
    iteration_edges: Literal["split", "by the instance"] = "split"
    last_iteration: Literal["is incomplete", "is complete"] = "is incomplete"
    gpu_recorded: Literal["by the next record", "by its own record"] = "by the next record"
    before_first_iteration: Literal["is NULL", "is the first"] = "is NULL"
    per_iteration: Literal["complete ones", "all"] = "complete ones"
    rate_counts: Literal["those in complete iterations", "those in iterations", "all"] = (
        "those in complete iterations"
    )
    automatic_rates: Literal["only without explicit ones", "always"] = "only without explicit ones"
    instance_iteration: Literal["where it began", "where it ended"] = "where it began"
    self_time: Literal["innermost and running", "innermost", "all"] = "innermost and running"
    # Calls.
    improper_nesting: Literal["is closed and counted", "is closed", "stays open"] = (
        "is closed and counted"
    )
    no_operation: Literal["takes the owner's", "is (none)"] = "takes the owner's"
    main_without_operation: Literal["is (none)", "takes the owner's"] = "is (none)"
    transitions: Literal["entries", "entries and returns"] = "entries"
    transition_operation: Literal["of the thread", "of the process"] = "of the thread"
    native_self: Literal["without callbacks and CUDA", "without callbacks", "inclusive"] = (
        "without callbacks and CUDA"
    )
    # Bookkeeping.
    records_of: Literal["the owner", "all threads"] = "the owner"
    records_of_helpers: Literal["while the owner may wait", "always", "never"] = (
        "while the owner may wait"
    )
    records_without_owner: Literal["of the main thread", "of all threads"] = "of the main thread"
    record_layer: Literal["of the process", "of the thread"] = "of the process"
    record_sides: Literal["inside and outside", "inside", "outside"] = "inside and outside"
    left_operation: Literal["before its time", "at its time"] = "before its time"
    nested_records: Literal["cost", "cost nothing"] = "cost"
    cuda_submissions: Literal["by their names", "are calls"] = "by their names"
    lost_records: Literal["cost", "cost nothing"] = "cost"
    room_waits: Literal["cost", "cost nothing"] = "cost"
    short_waits: Literal["cost", "cost nothing"] = "cost"
    wait_probes: Literal["cost nothing", "cost a probe"] = "cost nothing"
    # Ties and edges.
    moved_times: Literal["are counted", "are not counted"] = "are counted"
    ties: Literal["in order of threads", "in reverse order"] = "in order of threads"
    bucket_edges: Literal["split", "by start"] = "split"
    stretches: Literal["of time", "of boundaries"] = "of time"


@dataclass(frozen=True)
class CudaRules(Rules):
    """Those of CUDA calls and the GPU's work, which have relations of their own."""

    call_operation: Literal["at its start", "at its end"] = "at its start"
    call_without_operation: Literal["takes the owner's", "is (none)"] = "takes the owner's"
    main_call_without_operation: Literal["is (none)", "takes the owner's"] = "is (none)"
    call_at_window_end: Literal["is cut", "is whole"] = "is cut"
    not_ready: Literal["is no error", "is an error"] = "is no error"
    work_operation: Literal["of its launch", "of the owner when it starts"] = "of its launch"
    work_without_launch: Literal["is (unlinked)", "is (none)"] = "is (unlinked)"
    work_at_window_end: Literal["is whole", "is cut"] = "is whole"
    work_outside_windows: Literal["does not count", "counts"] = "does not count"
    idle_stream: Literal["at the end of the launch", "at its start", "when work starts"] = (
        "at the end of the launch"
    )
    while_time: Literal["union", "sum"] = "union"
    launched_time: Literal["union", "sum"] = "union"
    gpu_time_devices: Literal["apart", "together"] = "apart"
    gpu_time_between_windows: Literal["does not count", "counts"] = "does not count"
    waiting: Literal["overlap", "whole call"] = "overlap"
    waiting_for: Literal["stream or device", "device"] = "stream or device"
    stream_wait_event: Literal["waits for nothing", "waits"] = "waits for nothing"
    context_device: Literal["of its work", "of the record"] = "of its work"
    simultaneous_work: Literal["is the first one's", "is the last one's"] = "is the first one's"
    site_stage: Literal["of the call", "of the work"] = "of the call"
    iteration_work: Literal["of the call", "of the work"] = "of the call"
    iteration_kernels: Literal["kernels and graphs", "all work"] = "kernels and graphs"
    call_sites: Literal["if one is known", "always"] = "if one is known"
    # Reasons.
    reason_of: Literal["the owner, else the first thread", "the first thread"] = (
        "the owner, else the first thread"
    )
    reason_without_owner: Literal["of the main thread", "of the first thread"] = (
        "of the main thread"
    )
    reason_of_waits: Literal["by their kinds", "another process"] = "by their kinds"
    reason_of_collections: Literal["is their own", "is python"] = "is their own"
    copy_from_pageable: Literal["is a copy", "is like any other"] = "is a copy"
    copy_from_pinned: Literal["is like any other", "is a copy"] = "is like any other"
    copy_to_host: Literal["waits if to pageable memory", "always waits", "is a launch"] = (
        "waits if to pageable memory"
    )
    copy_without_async: Literal["waits", "is a launch"] = "waits"
    wait_after_copy: Literal["is the copy's", "is synchronisation"] = "is the copy's"
    submission_after_copy: Literal["ends it", "changes nothing"] = "ends it"
    query_after_copy: Literal["changes nothing", "ends it"] = "changes nothing"
    copies_of_one_id: Literal["the first", "the last"] = "the first"


@dataclass(frozen=True)
class LineRules(Rules):
    """Those of the times of stacks and source lines."""

    rest_of_a_division: Literal[
        "goes to the largest remainders", "goes to the lowest numbers", "is dropped"
    ] = "goes to the largest remainders"
    corrected_time: Literal["of all rows of the state", "of the first row", "is the time"] = (
        "of all rows of the state"
    )
    overhead_without_time: Literal["is a row without a stack", "is left out"] = (
        "is a row without a stack"
    )
    own_line: Literal["the innermost", "the outermost"] = "the innermost"
    own_lines_elsewhere: Literal["have a row in each layer", "have no row"] = (
        "have a row in each layer"
    )
    total_time: Literal["once for each stack", "once for each call"] = "once for each stack"


def mutations(rules: type[Rules] = Rules) -> list[tuple[str, str]]:
    """Every (field, wrong value) of the fields that this class adds."""
    hints = get_type_hints(rules)
    return [
        (field.name, value)
        for field in fields(rules)
        if field.name in vars(rules)["__annotations__"]
        for value in get_args(hints[field.name])
        if value != field.default
    ]
