"""What windows of GPU work say of the other iterations, and what they cost, by simulated loops."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import median
from typing import Any

import pytest
from support.files.relation_rows import Relations, process

from rlscope.analysis import gpu_windows
from rlscope.capture import gpu_choice
from rlscope.capture import gpu_windows as recorder
from rlscope.capture.gpu_windows import Windows

US, MS = 1_000, 1_000_000
RECORDED, CLOSING, OFF = 1, 2, 3
STEP, UPDATE = ("step",), ("step", "update")


@dataclass
class Loop:
    """A launch-bound loop on a clock of its own. It is recorded in the windows that the recorder
    chooses."""

    record_us: float
    """What a record of GPU work adds to a launch."""
    stays_us: float
    """What still adds to a launch when records are disabled, until CUPTI is ended."""
    seed: int
    update_every: int = 4
    update_kernels: int = 300
    launch_us: int = 27
    """What the program takes for each kernel."""
    names: bool = True
    """Whether operations tell the kinds apart."""
    noise: float = 0.1
    """By which part iterations differ."""
    now_ns: int = 0
    state: int = OFF
    rows: list[dict[str, Any]] = field(default_factory=list)
    plain_ns: int = 0
    launched: int = 0
    noted: list[dict[str, Any]] = field(default_factory=list)
    """What was chosen, and why."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._level = 0.0

    def has_cuda(self) -> bool:
        return True

    def turn_gpu(self, recorded: bool) -> int:
        """Attaching takes 12 ms."""
        if recorded and self.state == OFF:
            self.state = RECORDED
            self.now_ns += 12 * MS
        elif not recorded and self.state == RECORDED:
            self.state = CLOSING
        return self.state

    def follow_iterations(self, _: object) -> None: ...

    def gpu_launches(self) -> int:
        return self.launched

    def has_traced_graphs(self) -> bool:
        return False

    def metadata(self, key: str, value: str) -> None:
        self.noted = json.loads(value)

    def iterate(self, windows: Windows) -> None:
        begun_ns = self.now_ns
        windows.boundary()
        operations = UPDATE if len(self.rows) % self.update_every == 0 else STEP
        # Neighbours are alike: what an iteration launches drifts.
        self._level = 0.97 * self._level + self._random.gauss(0, 6 * self.noise)
        kernels = max(
            1, round((self.update_kernels if operations is UPDATE else 60) + 2 * self._level)
        )
        busy_ns = round(kernels * 4 * US * self._random.uniform(0.9, 1.1))
        plain_ns = round(kernels * self.launch_us * US * self._random.lognormvariate(0, self.noise))
        self.launched += kernels
        recorded = self.state == RECORDED
        added_us = {RECORDED: self.record_us, CLOSING: self.stays_us, OFF: 0}[self.state]
        self.now_ns += plain_ns + round(kernels * added_us * US)
        if self.state == CLOSING:
            self.state = OFF  # at its wait for the GPU
            self.now_ns += 13 * MS
        self.plain_ns += plain_ns
        self.rows.append(
            {
                "operations": operations if self.names else (),
                "duration_ns": self.now_ns - begun_ns,
                "kernels": kernels,
                "busy_ns": busy_ns,
                "gpu_recorded": recorded,
            }
        )

    @property
    def cost(self) -> float:
        """What recording takes of the loop."""
        return 1 - self.plain_ns / self.now_ns


def run(monkeypatch: pytest.MonkeyPatch, loop: Loop, iterations: int, share: str = "auto") -> Loop:
    monkeypatch.setattr(recorder.time, "perf_counter_ns", lambda: loop.now_ns)
    monkeypatch.setattr(recorder, "runtime", loop)
    monkeypatch.setattr(gpu_choice, "runtime", loop)
    windows = Windows(share)
    for _ in range(iterations):
        loop.iterate(windows)
    return loop


def zones(loop: Loop) -> list[dict[str, Any]]:
    """Rows of gpu_window.sql, iteration by iteration: each looks for the window nearest to it."""
    turns = [each["at_ns"] for each in loop.noted if each["recorded"] == "all"]
    begins = [0, *accumulate(row["duration_ns"] for row in loop.rows)]
    recorded = [row["gpu_recorded"] for row in loop.rows]
    spans: list[range] = []
    for at, each in enumerate(recorded):
        if each and spans and spans[-1].stop == at:
            spans[-1] = range(spans[-1].start, at + 1)
        elif each:
            spans.append(range(at, at + 1))
    usual_ns = {
        names: median(row["duration_ns"] for row in loop.rows if row["operations"] == names)
        for names in {row["operations"] for row in loop.rows}
    }
    lasting = [
        any(begins[span.start] <= turn < begins[span.stop] for turn in turns) for span in spans
    ]
    sums: dict[tuple[Any, ...], list[int]] = {}
    nearest = 0
    for at, row in enumerate(loop.rows):
        while nearest + 1 < len(spans) and _away(at, spans[nearest + 1]) < _away(
            at, spans[nearest]
        ):
            nearest += 1
        zone = _zone(at, spans, nearest)
        if nearest and lasting[nearest] and recorded[at]:
            zone = "whole"
        longer_ns = row["duration_ns"] - (25 * MS if zone in ("first", "edge") else 0)
        names = row["operations"]
        kind = (names, longer_ns > 4 * usual_ns[row["operations"]])
        values = sums.setdefault((nearest, zone, kind), [0, 0, 0, 0])
        values[0] += 1
        values[1] += row["duration_ns"]
        if recorded[at]:
            values[2] += row["kernels"]
            values[3] += row["busy_ns"]
    return [
        {"process_id": 0, "window_id": window, "zone": zone, "kind": kind,
         "operations": kind[0], "is_long": kind[1], "iterations": n,
         "duration_ns": ns, "kernels": kernels, "busy_ns": busy_ns}
        for (window, zone, kind), (n, ns, kernels, busy_ns) in sums.items()
    ]  # fmt: skip


def _away(at: int, span: range) -> int:
    return max(span.start - at, at - span.stop + 1, 0)


def _zone(at: int, spans: list[range], nearest: int) -> str:
    span = spans[nearest]
    if at in span:
        return "first" if at == span.start else "recorded"
    afters = [at - each.stop + 1 for each in spans[: nearest + 1] if each.stop <= at]
    befores = [each.start - at for each in spans[nearest : nearest + 2] if each.start > at]
    after, before = min(afters, default=1 << 40), min(befores, default=1 << 40)
    if after <= gpu_windows.AFTER or before <= gpu_windows.BEFORE:
        return "edge"
    length = len(span)
    near = after <= gpu_windows.AFTER + length or before <= gpu_windows.BEFORE + length
    return "beside" if near else "far"


def relations(loop: Loop) -> Relations:
    starts: list[int] = [0]
    for row in loop.rows:
        starts.append(starts[-1] + row["duration_ns"])
    iteration = [
        {
            "process_id": 0, "iteration": at, "start_ns": starts[at], "complete": True,
            "source": "explicit", "duration_ns": row["duration_ns"],
            "gpu_recorded": row["gpu_recorded"],
            "kernels": row["kernels"] if row["gpu_recorded"] else None,
            "busy_ns": row["busy_ns"] if row["gpu_recorded"] else None,
        }
        for at, row in enumerate(loop.rows)
    ]  # fmt: skip
    times = [
        {"process_id": 0, "iteration": at, "operation": operation, "layer": layer, "duration_ns": 1}
        for at, row in enumerate(loop.rows)
        for operation in row["operations"]
        for layer in ("python", "none")
    ]
    lost = [{"process_id": 0, "kind": "gpu_unrecorded", "count": 1}]
    return Relations(
        process=[process(0, 0, starts[-1])],
        iteration=iteration,
        iteration_breakdown=times,
        loss=lost,
        metadata=[{"process_id": 0, "key": "gpu_share", "value": json.dumps(loop.noted)}],
    )


@pytest.mark.parametrize("names", [True, False])
def test_the_statement_says_the_same_of_each_iteration(
    monkeypatch: pytest.MonkeyPatch, names: bool
) -> None:
    loop = run(
        monkeypatch,
        Loop(3, 1, seed=1, names=names, update_every=7, update_kernels=600, launch_us=300),
        1_000,
        "5%",
    )
    assert len({row["kind"] for row in zones(loop)}) == 2
    check_statement(loop)


def check_statement(loop: Loop) -> None:
    (found,) = gpu_windows.recorded(relations(loop)).values()  # type: ignore[arg-type]

    def values(rows: list[Any]) -> list[Any]:
        kept = ("window_id", "zone", "iterations", "duration_ns", "kernels", "busy_ns")
        return sorted(tuple(row[name] or 0 for name in kept) for row in rows)

    assert values(found) == values(zones(loop))


Errors = list[tuple[float, bool]]


def errors(
    monkeypatch: pytest.MonkeyPatch, seeds: range, iterations: int, **loop: Any
) -> dict[str, Errors]:
    """How far the estimate of each run is off, and whether the interval holds the truth."""
    found: dict[str, Errors] = {"kernels": [], "busy_ns": []}
    for seed in seeds:
        # Long iterations, so that few of them make many windows.
        ran = run(monkeypatch, Loop(3, 1, seed=seed, launch_us=300, **loop), iterations, "10%")
        estimate = gpu_windows.estimated(zones(ran))
        assert estimate is not None and not estimate.unknown
        for column, errors_of_column in found.items():
            truth = sum(row[column] for row in ran.rows)
            interval = getattr(estimate, column)
            holds = interval.low <= truth <= interval.high
            errors_of_column.append((interval.mean / truth - 1, holds))
    return found


def test_the_interval_holds_in_95_of_100_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for found in errors(monkeypatch, range(100), 2_400).values():
        assert max(abs(off) for off, _ in found) < 0.02
        assert abs(sum(off for off, _ in found) / len(found)) < 0.002
        assert sum(holds for _, holds in found) >= 93


def test_rare_updates_are_found_by_their_length_where_no_operation_names_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rare: dict[str, Any] = {"update_every": 150, "update_kernels": 600}
    found = errors(monkeypatch, range(8), 8_000, names=False, **rare)["kernels"]
    assert max(abs(off) for off, _ in found) < 0.02


@pytest.mark.parametrize("record_us", [1, 3, 8])
@pytest.mark.parametrize("stays_us", [0, 2])
def test_windows_cost_what_is_allowed_and_say_so(
    monkeypatch: pytest.MonkeyPatch, record_us: float, stays_us: float
) -> None:
    loop = run(monkeypatch, Loop(record_us, stays_us, seed=5), 60_000)
    found = gpu_windows.costs(zones(loop))
    assert found is not None
    assert 0.015 < loop.cost < 0.03
    assert abs(found.share.mean - loop.cost) < 0.005
    assert found.share.low - 0.001 < loop.cost < found.share.high + 0.001
    assert abs(found.slower.mean - record_us / 27) < 0.02
    assert found.slower.low < found.slower.mean < found.slower.high


@pytest.mark.parametrize("stays_us", [0, 2])
def test_where_recording_is_cheap_all_is_recorded_in_the_end(
    monkeypatch: pytest.MonkeyPatch, stays_us: float
) -> None:
    loop = run(monkeypatch, Loop(0, stays_us, seed=5, noise=0.02), 30_000)
    assert [each["why"] for each in loop.noted] == ["many_launches", "cheap"]
    assert all(row["gpu_recorded"] for row in loop.rows[-15_000:])
    rows = zones(loop)
    found, estimate = gpu_windows.costs(rows), gpu_windows.estimated(rows)
    assert found is not None and estimate is not None
    assert loop.cost < 0.03 and abs(found.share.mean - loop.cost) < 0.02
    truth = sum(row["kernels"] for row in loop.rows)
    assert estimate.kernels.low <= truth <= estimate.kernels.high
    assert estimate.seen / estimate.iterations > 0.5
    assert estimate.kernels.high - estimate.kernels.low < 0.02 * truth


def test_the_statement_knows_the_stretch_that_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = {"noise": 0.01, "launch_us": 300, "update_kernels": 60}
    loop = run(monkeypatch, Loop(0, 0, seed=6, **alike), 3_000)
    assert [each["why"] for each in loop.noted] == ["many_launches", "cheap"]
    check_statement(loop)


def test_long_iterations_that_few_windows_have_count_as_others_with_their_operations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run(monkeypatch, Loop(3, 1, seed=2, launch_us=300), 2_400, "10%")
    plain = gpu_windows.estimated(zones(ran))
    # A neighbour of the machine stops some iterations, none of them in a window.
    stopped = [row for row in ran.rows if not row["gpu_recorded"]][::50]
    for row in stopped:
        row["duration_ns"] *= 20
    found = gpu_windows.estimated(zones(ran))
    assert plain is not None and found is not None
    assert found.kernels.mean == pytest.approx(plain.kernels.mean, rel=1e-9)
    assert found.unlike_ns == sum(row["duration_ns"] for row in stopped)
    assert (plain.unlike_ns, found.unknown) == (0, 0)


def test_too_few_windows_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = run(monkeypatch, Loop(3, 1, seed=5), 150, "10%")
    assert gpu_windows.estimated(zones(loop)) is None
    assert gpu_windows.costs(zones(loop)) is None


def test_what_was_recorded_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = run(monkeypatch, Loop(3, 1, seed=5), 6_000, "10%")
    rows = [row for row in zones(loop) if row["zone"] in ("first", "recorded")]
    all_seen = [{**row, "window_id": at} for at, row in enumerate(rows)]
    found = gpu_windows.estimated([{**row, "zone": "first"} for row in all_seen])
    assert found is not None
    whole = sum(row["kernels"] for row in rows)
    assert (found.kernels.mean, found.kernels.low, found.kernels.high) == (whole, whole, whole)
