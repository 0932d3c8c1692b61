"""Rules of advice for programs with a GPU: rows that they fire on, that their fix would not change,
and that have it already. A loop of 10 s has 100 iterations, each with one entry into `update`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from support.files.finding_rows import LOOP_NS, trace
from support.files.loop_rows import found_by as found
from support.files.relation_rows import SECOND, Relations

from rlscope.analysis import finding_verdicts
from rlscope.analysis.prices import Price

MS = 1_000_000
US = 1_000
ITERATIONS = 100
EACH_NS = LOOP_NS // ITERATIONS
FILE = "/home/me/train.py"
Rows = list[dict[str, Any]]


def price_of(name: str, rows: Relations) -> Price:
    (finding,) = found(name, rows)
    assert finding.price is not None
    return finding.price


def idle(reason: str, layer: str, idle_ns: int, busy_ns: int = 0) -> Rows:
    common = {"process_id": 0, "stage": "loop", "operation": "update", "layer": layer}
    times = ((False, idle_ns), (True, busy_ns))
    return [
        {**common, "reason": reason, "gpu_busy": busy, "duration_ns": duration_ns}
        for busy, duration_ns in times
        if duration_ns
    ]


def gpu(launched_ns: int) -> Rows:
    common = {"process_id": 0, "operation": "update", "device": 0, "gpu": "0"}
    return [{**common, "launched_ns": launched_ns, "while_ns": launched_ns}]


def call(name: str, calls: int, **more: Any) -> dict[str, Any]:
    common = {"process_id": 0, "operation": "update", "name": name, "calls": calls}
    return {**common, "with_work": calls, "duration_ns": 0, **more}


def line(number: int, layer: str, own_ns: int, text: str, **more: Any) -> dict[str, Rows]:
    where = {"file": FILE, "line": number}
    ends = {"own_ns": own_ns, "own_low_ns": own_ns, "own_high_ns": own_ns}
    timed = {"process_id": 0, "is_own": True, "stage": "loop", "operation": "update"}
    source = {**where, **timed, **ends, "layer": layer, **more}
    return {"source_line": [source], "source_text": [{**where, "text": text}]}


def together(*parts: dict[str, Rows]) -> dict[str, Rows]:
    names = {name for part in parts for name in part}
    return {name: [row for part in parts for row in part.get(name, [])] for name in names}


# ---- launches ----------------------------------------------------------------------------------


def launching(
    *, launches: int = 200 * ITERATIONS, launched_ns: int = SECOND, bound: float = 1.0, **more: Any
) -> Relations:
    """`update` takes 10 s of framework and Python for kernels of 1 s."""
    states = [
        {
            "process_id": 0,
            "iteration": place,
            "iteration_source": "explicit",
            "complete": True,
            "operation": "update",
            "layer": layer,
            "gpu_busy": False,
            "duration_ns": EACH_NS // 2,
        }
        for place in range(ITERATIONS)
        for layer in ("framework", "python")
    ]
    kernel = {"process_id": 0, "operation": "update", "function": "k", "count": launches}
    rows: dict[str, Any] = {
        "idle": [
            *idle("framework", "framework", 5 * SECOND - launched_ns, launched_ns),
            *idle("python", "python", 5 * SECOND),
        ],
        "iteration_breakdown": states,
        "kernel": [{**kernel, "launch_bound": int(bound * launches), "duration_ns": launched_ns}],
        "gpu_time": gpu(launched_ns),
        "api_call": [call("cudaLaunchKernel", launches)],
        **line(12, "framework", SECOND, "loss.backward()"),
    }
    return trace(iterations=ITERATIONS, **{**rows, **more})


def test_a_step_that_only_launches_small_kernels():
    (finding,) = found("launch_bound", launching())
    assert (finding.operation, finding.file, finding.line) == ("update", FILE, 12)
    assert finding.price is not None
    # A graph takes the kernels, 2 us for each, and 30 us itself.
    graph_ns = SECOND + 200 * ITERATIONS * 2 * US + ITERATIONS * 30 * US
    assert finding.price.saving_ns == pytest.approx(9 * SECOND - graph_ns)
    assert 3 * SECOND < finding.price.low_ns < finding.price.high_ns <= 9 * SECOND


def test_python_that_is_not_about_launches_stays():
    time = [*idle("framework", "framework", SECOND), *idle("python", "python", 9 * SECOND)]
    price = price_of("launch_bound", launching(launched_ns=MS, idle=time))
    assert price.high_ns < 2 * SECOND


@pytest.mark.parametrize(
    "mended",
    [
        {"gpu_time": gpu(6 * SECOND)},  # the GPU is what takes the time
        {"bound": 0.2},  # kernels wait for other kernels
        {"launches": 3 * ITERATIONS},  # too few for a graph
        {"api_call": [call("cudaGraphLaunch", ITERATIONS)]},  # they are in a graph already
        {"api_call": [call("cudaLaunchKernel", 200 * ITERATIONS, with_work=None)]},  # not recorded
    ],
    ids=["busy", "queued", "few", "graph", "unknown"],
)
def test_launches_that_a_graph_would_not_make_faster(mended):
    assert found("launch_bound", launching(**mended)) == []


# ---- waits for the GPU -------------------------------------------------------------------------


def waiting(*, idle_us: int, other_us: int = 0, **more: Any) -> Relations:
    """In each iteration of 100 ms, `update` waits 30 ms for a kernel. Then the GPU is idle for so
    long until it has work that lasts to the end of the iteration. With `other_us`, a call in
    another operation waits so long after the wait."""
    event = {"process_id": 0, "thread_id": 0, "operation_id": 0}
    events: Rows = []
    for place in range(ITERATIONS):
        begin = place * EACH_NS
        kernel = {**event, "kind": "kernel", "name": "k", "thread_id": None, "iteration": place}
        wait = {**event, "kind": "cuda_call", "name": "cudaStreamSynchronize", "iteration": place}
        again_ns = begin + 30 * MS + idle_us * US
        events += [
            {**kernel, "start_ns": begin, "duration_ns": 30 * MS},
            {**wait, "start_ns": begin, "duration_ns": 30 * MS},
            {**kernel, "start_ns": again_ns, "duration_ns": begin + EACH_NS - again_ns},
        ]
        if other_us:
            other = {**wait, "operation_id": 1, "duration_ns": 10 * US}
            events.append({**other, "start_ns": begin + 30 * MS + other_us * US})
    idle_ns = ITERATIONS * idle_us * US
    rows: dict[str, Any] = {
        "idle": [
            *idle("synchronisation", "cuda_api", 0, 3 * SECOND),
            *idle("python", "python", idle_ns, 7 * SECOND - idle_ns),
        ],
        "gpu_time": gpu(LOOP_NS - idle_ns),
        "operation": [{"operation_id": 0, "path": "update"}, {"operation_id": 1, "path": "act"}],
        "event": events,
        **together(
            line(30, "cuda_api", 2 * SECOND, "batch = batch.to(device)"),
            line(31, "cuda_api", SECOND, "losses.append(loss.item())"),
        ),
    }
    return trace(iterations=ITERATIONS, **rows, **more)


def test_a_wait_after_which_the_gpu_is_idle():
    (finding,) = found("device_sync", waiting(idle_us=20_000))
    assert (finding.operation, finding.file, finding.line) == ("update", FILE, 31)
    assert finding.price is not None
    # 20 of the 30 ms: then the GPU has work from the launches that follow.
    assert finding.price.saving_ns == pytest.approx(2 * SECOND)
    assert finding.price.low_ns == pytest.approx(2 * SECOND, rel=0.05)


def test_a_wait_wins_no_more_than_it_lasts():
    assert price_of("device_sync", waiting(idle_us=60_000)).saving_ns == pytest.approx(3 * SECOND)


@pytest.mark.parametrize("idle_us", [500, 2_500])
def test_a_wait_with_a_long_queue_wins_nothing(idle_us):
    assert found("device_sync", waiting(idle_us=idle_us)) == []


def test_a_wait_that_the_next_call_makes_up_for():
    """It comes 5 ms later, in an operation that must wait."""
    saving = price_of("device_sync", waiting(idle_us=20_000, other_us=5_000)).saving_ns
    assert saving == pytest.approx(SECOND // 2)


def test_a_wait_in_a_large_trace_is_worth_a_look(monkeypatch):
    monkeypatch.setattr(finding_verdicts, "_MOST_INTERVALS", 0)
    rows = {"api_call": [call("cudaStreamSynchronize", ITERATIONS)]}
    price = price_of("device_sync", waiting(idle_us=20_000, **rows))
    assert (price.low_ns, price.high_ns) == (0, 3 * SECOND)


def test_an_action_that_the_environment_needs():
    states = [
        *idle("synchronisation", "cuda_api", 0, 3 * SECOND),
        *idle("python", "python", SECOND),
    ]
    inference = [{**state, "operation": "inference"} for state in states]
    rows = trace(iterations=ITERATIONS, idle=inference, gpu_time=gpu(SECOND))
    assert found("device_sync", rows) == []


# ---- copies ------------------------------------------------------------------------------------


def copying(
    *, memory: str = "pageable", idle_ns: int = SECOND, size: int = 1000_000, **more: Any
) -> Relations:
    """`update` copies 1,000 times, 1 MB each."""
    copy = {"process_id": 0, "operation": "update", "direction": "host_to_device"}
    return trace(
        iterations=ITERATIONS,
        idle=[
            *idle("copy" if memory == "pageable" else "launch", "cuda_api", idle_ns),
            *idle("python", "python", LOOP_NS - idle_ns),
        ],
        gpu_time=gpu(SECOND),
        memcpy=[{**copy, "memory": memory, "count": 1000, "bytes": 1000 * size, "duration_ns": MS}],
        **together(
            line(8, "cuda_api", SECOND, "action = act(state).item()"),
            line(9, "cuda_api", SECOND // 2, "batch = batch.to(device)"),
        ),
        **more,
    )


def test_copies_of_pageable_memory():
    (finding,) = found("pageable_copies", copying())
    assert (finding.file, finding.line) == (FILE, 9)
    assert finding.price is not None
    # Filling pinned memory takes 1 ns for 8 bytes, and a call 6 us.
    assert finding.price.saving_ns == SECOND - 125 * MS - 1000 * 6 * US


def test_copies_of_pinned_memory():
    assert found("pageable_copies", copying(memory="pinned")) == []


def test_small_copies_that_wait_for_a_cpu():
    # 30 us are the most that a small copy takes by itself, and 6 us of a pinned one stay.
    price = price_of("pageable_copies", copying(size=0))
    assert price.saving_ns == pytest.approx(1000 * (30 - 6) * US)


def test_copies_that_take_no_time():
    assert found("pageable_copies", copying(idle_ns=MS)) == []


# ---- memory of the GPU -------------------------------------------------------------------------


def allocating(*, frees: int, **more: Any) -> Relations:
    return trace(
        iterations=ITERATIONS,
        idle=[*idle("allocation", "cuda_api", SECOND), *idle("python", "python", 9 * SECOND)],
        gpu_time=gpu(SECOND),
        api_call=[call("cudaMalloc", ITERATIONS), call("cudaFree", frees)],
        **together(
            line(43, "cuda_api", SECOND, "loss.backward()"),
            line(44, "gpu", 0, "torch.cuda.empty_cache()", calls=300),  # no reading found it
        ),
        **more,
    )


def test_memory_that_is_given_back_in_each_step():
    (finding,) = found("device_memory", allocating(frees=ITERATIONS))
    assert (finding.file, finding.line) == (FILE, 44)
    assert finding.price == Price(0.95 * SECOND, 0.8 * SECOND, SECOND)


def test_memory_that_is_taken_and_kept():
    assert found("device_memory", allocating(frees=2)) == []


# ---- windows of GPU work -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ("launch_bound", launching),
        ("device_sync", partial(waiting, idle_us=20_000)),
        ("pageable_copies", copying),
        ("device_memory", partial(allocating, frees=ITERATIONS)),
    ],
    ids=["launches", "wait", "copies", "memory"],
)
def test_what_windows_have_stands_for_the_loop(rule: str, rows: Callable[..., Relations]) -> None:
    (whole,), (found_in_windows,) = found(rule, rows()), found(rule, rows(windows=True))
    assert whole.price is not None and found_in_windows.price is not None
    assert found_in_windows.title == whole.title
    assert ("46.0 % of the iterations" in found_in_windows.evidence) == (rule != "device_memory")
    assert found_in_windows.price.saving_ns == pytest.approx(whole.price.saving_ns, rel=1e-3)
    assert found_in_windows.price.low_ns <= whole.price.low_ns * 1.001
    assert found_in_windows.price.high_ns >= whole.price.high_ns * 0.999
