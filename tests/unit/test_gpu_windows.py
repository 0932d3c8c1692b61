"""Which iterations lie in windows of GPU work, and what auto makes of what windows cost."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from rlscope.capture import gpu_choice, gpu_windows
from rlscope.capture.gpu_windows import Windows
from rlscope.costs import record_costs

_MS = 1_000_000
RECORDED, CLOSING, OFF = 1, 2, 3


class Program:
    """A loop on a clock of its own: what an iteration takes, and what a window adds."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        *,
        plain_ms: float = 10,
        slower: float = 1.0,
        switch_ms: float = 0,
        long_every: int = 0,
        launches_per_s: float = 50_000,
    ) -> None:
        self.now_ns = 0
        self.recorded: list[bool] = []
        self.state = OFF
        self.begins_at = 0
        self.follows = True
        self.plain_ns, self.slower = plain_ms * _MS, slower
        self._switch_ns = round(switch_ms * _MS)
        self._long_every = long_every
        self.launches_per_s, self._launches = launches_per_s, 0.0
        self.traces_graphs = False
        self.is_taken = False  # another profiler has CUPTI
        self.noted: list[dict[str, Any]] = []
        monkeypatch.setattr(gpu_windows.time, "perf_counter_ns", lambda: self.now_ns)
        for module in (gpu_windows, gpu_choice):
            monkeypatch.setattr(module, "runtime", self)

    # What the recorder answers.

    def has_cuda(self) -> bool:
        return len(self.recorded) >= self.begins_at

    def turn_gpu(self, recorded: bool) -> int:
        if self.is_taken:
            return CLOSING
        if recorded and self.state == OFF:
            self.now_ns += self._switch_ns
            self.state = RECORDED
        elif not recorded and self.state == RECORDED:
            self.state = CLOSING
        elif not recorded and self.state == CLOSING:
            self.now_ns += self._switch_ns
            self.state = OFF
        return self.state

    def follow_iterations(self, follower: object) -> None:
        self.follows = follower is not None

    def gpu_launches(self) -> int:
        return int(self._launches)

    def has_traced_graphs(self) -> bool:
        return self.traces_graphs

    def metadata(self, key: str, value: str) -> None:
        assert key == gpu_choice.METADATA
        self.noted = json.loads(value)

    # What the program does.

    def run(self, windows: Windows, iterations: int) -> None:
        self.windows = windows
        for _ in range(iterations):
            windows.boundary()
            slow = self.state != OFF and self.has_cuda()
            long = self.is_long(len(self.recorded))
            self.recorded.append(self.state == RECORDED)
            took_ns = round(self.plain_ns * (30 if long else 1) * (self.slower if slow else 1))
            self.now_ns += took_ns
            if slow:  # else nobody counts
                self._launches += self.launches_per_s * took_ns / 1e9

    def is_long(self, iteration: int) -> bool:
        return bool(self._long_every) and iteration % self._long_every == self._long_every - 1

    def cost(self) -> float:
        return self.now_ns / (self.plain_ns * len(self.recorded)) - 1


def lengths(recorded: list[bool]) -> list[int]:
    """How long the stretches are that are recorded."""
    text = "".join("x" if each else " " for each in recorded)
    return [len(each) for each in text.split()]


@pytest.mark.parametrize("share", [5, 10, 50])
def test_the_share_of_the_iterations_is_recorded_in_whole_windows(
    monkeypatch: pytest.MonkeyPatch, share: int
) -> None:
    program = Program(monkeypatch)
    program.run(Windows(f"{share}%"), 20_000)
    assert sum(program.recorded) / 20_000 == pytest.approx(share / 100, rel=0.1)
    assert set(lengths(program.recorded)[1:-1]) == {25}  # a quarter of a second


def test_windows_lie_anywhere_and_the_same_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = []
    for _ in range(2):
        program = Program(monkeypatch)
        program.run(Windows("10%"), 10_000)
        chosen.append(program.recorded)
    assert chosen[0] == chosen[1]
    # No part of a period of 50 iterations is met by windows much more than another.
    met = [sum(chosen[0][at::50]) for at in range(50)]
    assert min(met) > 0.4 * max(met)


@pytest.mark.parametrize("long_every", [300, 997])
@pytest.mark.parametrize("switch_ms", [0, 12])
def test_iterations_that_are_long_and_rare_are_recorded_more_often(
    monkeypatch: pytest.MonkeyPatch, long_every: int, switch_ms: float
) -> None:
    program = Program(
        monkeypatch, plain_ms=1, slower=1.4, switch_ms=switch_ms, long_every=long_every
    )
    program.run(Windows("10%", length=10), 100_000)
    long = [program.recorded[at] for at in range(100_000) if program.is_long(at)]
    assert 0.09 < sum(program.recorded) / 100_000 < 0.11
    assert 0.35 < sum(long) / len(long) < 0.75


def test_long_iterations_are_no_cost_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(monkeypatch, plain_ms=10, slower=1.4, switch_ms=12, long_every=400)
    program.run(Windows("auto"), 60_000)
    first_ns, first = program.now_ns, len(program.recorded)
    program.run(program.windows, 100_000)
    plain_ms = 100_000 + 29 * sum(map(program.is_long, range(first, first + 100_000)))
    assert 0.01 < (program.now_ns - first_ns) / (10 * _MS * plain_ms) - 1 < 0.03


def test_a_long_iteration_is_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(monkeypatch, plain_ms=2000)
    program.run(Windows("10%"), 1_000)
    assert set(lengths(program.recorded)[1:]) == {1}


@pytest.mark.parametrize("plain_ms", [0.5, 12, 300])
@pytest.mark.parametrize("slower", [1.05, 1.4, 3])
def test_with_auto_windows_cost_less_than_three_percent(
    monkeypatch: pytest.MonkeyPatch, plain_ms: float, slower: float
) -> None:
    program = Program(monkeypatch, plain_ms=plain_ms, slower=slower, switch_ms=12)
    windows = Windows("auto")
    program.run(windows, round(60_000 / plain_ms))
    first_ns, first = program.now_ns, len(program.recorded)
    program.run(windows, round(600_000 / plain_ms))
    plain_ns = plain_ms * _MS * (len(program.recorded) - first)
    assert 0.005 < (program.now_ns - first_ns) / plain_ns - 1 < 0.03
    assert sum(program.recorded[first:]) > 0


def test_with_auto_the_first_seconds_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(monkeypatch)
    program.begins_at = 100
    program.run(Windows("auto"), 650)
    assert not any(program.recorded[:100])
    assert lengths(program.recorded)[0] == 500


def why(program: Program) -> list[tuple[str, str]]:
    return [(row["recorded"], row["why"]) for row in program.noted]


def test_with_auto_a_program_that_launches_little_is_recorded_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Program(monkeypatch, launches_per_s=1_700)
    program.run(Windows("auto"), 6_000)
    assert all(program.recorded[1:])
    assert why(program) == [("all", "few_launches")]
    assert program.noted[0]["launches_per_s"] == pytest.approx(1_700, rel=0.01)


def test_with_auto_windows_begin_once_a_program_launches_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where the first updates come late."""
    program = Program(monkeypatch, launches_per_s=500, slower=1.0, switch_ms=12)
    windows = Windows("auto")
    program.run(windows, 3_000)
    assert all(program.recorded[1:])
    program.launches_per_s, program.slower = 50_000, 1.4
    program.run(windows, 40_000)
    assert why(program) == [("all", "few_launches"), ("windows", "many_launches")]
    assert 0 < sum(program.recorded[3_000:]) / 40_000 < 0.15


@pytest.mark.parametrize("slower", [1.0, 1.01])
def test_with_auto_all_is_recorded_once_windows_are_cheap(
    monkeypatch: pytest.MonkeyPatch, slower: float
) -> None:
    """As in a loop that waits for its GPU."""
    program = Program(monkeypatch, slower=slower, switch_ms=25)
    program.run(Windows("auto"), 10_000)
    assert why(program) == [("windows", "many_launches"), ("all", "cheap")]
    assert program.noted[1]["slower"] == pytest.approx(slower - 1, abs=0.001)
    assert all(program.recorded[5_000:])


def test_with_auto_what_was_cheap_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(monkeypatch, slower=1.0, switch_ms=12)
    windows = Windows("auto")
    program.run(windows, 10_000)
    program.launches_per_s, program.slower = 150_000, 1.4
    program.run(windows, 40_000)
    assert why(program)[2:] == [("windows", "many_launches")]
    assert sum(program.recorded[12_000:]) / 38_000 < 0.15


def test_with_auto_a_program_whose_graphs_are_traced_is_recorded_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Program(monkeypatch, slower=1.4)
    program.traces_graphs = True
    program.run(Windows("auto"), 6_000)
    assert all(program.recorded[1:])
    assert why(program) == [("all", "graphs")]


def test_with_auto_noise_alone_does_not_end_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cost above what is allowed, in a loop whose iterations differ by half."""
    program = Program(monkeypatch, slower=1.05, switch_ms=12)
    windows, chance = Windows("auto"), random.Random(1)
    for _ in range(20_000):
        program.plain_ns = 10 * _MS * chance.uniform(0.75, 1.25)
        program.run(windows, 1)
    assert why(program) == [("windows", "many_launches")]


def test_a_process_that_records_all_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(monkeypatch)
    program.turn_gpu = lambda recorded: 0  # type: ignore[method-assign]
    program.run(Windows("10%"), 10)
    assert not program.follows


def test_a_launch_costs_at_most_what_the_report_says_of_it() -> None:
    """The traced program does not import the report's numbers."""
    assert gpu_choice.LAUNCH_NS == record_costs.LAUNCH_ON_H100_NS[2]


def test_auto_does_not_choose_while_another_profiler_has_cupti(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program, windows = Program(monkeypatch, slower=1.3), Windows("auto")
    program.state, program.is_taken = RECORDED, True
    program.run(windows, 2_000)
    assert all(program.recorded) and not program.noted
    program.is_taken = False
    program.run(windows, 1_000)
    assert [each["why"] for each in program.noted] == ["many_launches"]
    assert not all(program.recorded[2_500:])


def test_a_run_of_half_a_minute_has_windows_enough_to_speak_of_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However dear the first of them was."""
    program = Program(monkeypatch, slower=3)
    program.run(Windows("auto"), 2_300)
    assert len(lengths(program.recorded)[1:]) >= 3
    assert program.now_ns < 30e9
