"""The kit's steps about costs report the costs that are planted in the simulated CUPTI.

What they count is the same on every machine. A busy one stretches what they measure, so figures
are compared with what is planted before a release only.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.cuda.cost_kit import (
    ACTIVITY_NS,
    ATTACHED,
    ATTACHED_NS,
    CALLBACK_NS,
    COSTS,
    SHORTER,
    answer_of,
    is_cost,
    quick_kit,
)
from support.cuda.simcuda_runs import built

ACCEPTANCE = Path(__file__).parents[1] / "gpu" / "acceptance.py"
LAUNCHES, CALLS = 50, 52
"""What an iteration of loops/launches.py makes: it copies once and waits once, too."""
LONGER = {
    "cost-launches": 18, "cost-off-launches": 18, "cost-twins-launches": 18,
    "cost-share-launches": 80,
}  # fmt: skip
"""Seconds of steps that have more modes, or more processes, than the others."""
CHEAP_NS = 400
"""Less than this for a call counts as nothing, in short blocks of a busy machine."""


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built()
    return quick_kit(tmp_path_factory.mktemp("kit"))


Figures = dict[str, Any]


@pytest.fixture(scope="module")
def figures(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Figures]:
    """The figures of a step, which runs once for all tests that ask for it."""

    @cache
    def of_step(step: str) -> Figures:
        limit = LONGER.get(step, 14)
        folder = tmp_path_factory.mktemp(step)
        answer = answer_of(folder, kit, step, limit, **COSTS, **ATTACHED)
        assert (answer["status"], answer["reason"]) == ("PASS", ""), answer
        found: Figures = answer["figures"]
        return found

    return of_step


def cpu(found: Figures, mode: str, unit: str) -> dict[str, float]:
    interval: dict[str, float] = found["added"][mode]["cpu"][unit]
    return interval


def test_each_part_of_recording_is_counted(figures: Callable[[str], Figures]) -> None:
    found = figures("cost-launches")
    assert found["rounds"] > 1
    each = found["per_iteration"]
    assert each["launch"] == LAUNCHES
    waits = 1 / found["iterations_of_a_block"]  # one at the end of each block
    assert each["call"] == each["record"] == pytest.approx(CALLS + waits)
    assert found["kernels_of_an_iteration"]["least"] == LAUNCHES
    both = cpu(found, "all", "ns_per_launch")
    assert both["low"] <= both["median"] <= both["high"]
    assert found["switching"]["all"]["wall_us"]["median"] > 0


@pytest.mark.slow
def test_each_part_of_recording_costs_what_is_planted(figures: Callable[[str], Figures]) -> None:
    found = figures("cost-launches")
    assert is_cost(cpu(found, "calls", "ns_per_call"), 2 * CALLBACK_NS, 2)
    assert is_cost(cpu(found, "work", "ns_per_record"), ACTIVITY_NS, 1)
    assert is_cost(cpu(found, "all", "ns_per_call"), 2 * CALLBACK_NS + ACTIVITY_NS, 3)
    assert abs(cpu(found, "cpu", "ns_per_call")["median"]) < CHEAP_NS
    assert abs(cpu(found, "paused", "ns_per_call")["median"]) < CHEAP_NS
    for mode in ("before", "all", "paused"):
        assert is_cost(found["left"][mode]["cpu"]["ns_per_call"], ATTACHED_NS, 1), mode
    assert found["added"]["all"]["wall"]["percent"]["median"] > 0


def test_each_way_to_turn_it_off_leaves_exact_counts(figures: Callable[[str], Figures]) -> None:
    steps = figures("cost-off-launches")
    assert steps["exact"]["same"] and steps["refused"] == {}
    assert "before" in steps["exact"]["after"]
    for counts in steps["exact"]["after"].values():
        assert counts["kernels"] == [LAUNCHES, LAUNCHES] and counts["dropped"] == [0, 0]
    found = steps["steps"]
    assert found["kinds-off"]["counts_per_iteration"]["on"]["kernels"] == [0, 0]
    assert all(found[step]["takes"]["wall_us"]["median"] > 0 for step in found)


@pytest.mark.slow
def test_what_each_way_to_turn_it_off_leaves_is_what_is_planted(
    figures: Callable[[str], Figures],
) -> None:
    steps = figures("cost-off-launches")
    assert steps["exact"]["after"].keys() >= {"before", "unsubscribed", "finalized"}
    found = steps["steps"]
    off = {step: found[step]["against_before"]["cpu"]["ns_per_launch"] for step in found}
    callbacks = 2 * CALLBACK_NS * CALLS / LAUNCHES
    attached = ATTACHED_NS * CALLS / LAUNCHES
    activity = ACTIVITY_NS * CALLS / LAUNCHES
    assert is_cost(off["on"], callbacks + activity + attached, 4 * CALLS / LAUNCHES)
    assert is_cost(off["kinds-off"], callbacks + attached, 3 * CALLS / LAUNCHES)
    assert is_cost(off["callbacks-off"], attached, CALLS / LAUNCHES)
    assert is_cost(off["unsubscribed"], attached, CALLS / LAUNCHES)
    assert abs(off["finalized"]["median"]) < CHEAP_NS
    assert abs(off["finalized-in-call"]["median"]) < CHEAP_NS


def test_what_stays_is_told_beside_a_process_without_cupti(
    figures: Callable[[str], Figures],
) -> None:
    found = figures("cost-twins-launches")
    assert found["refused"] == {}
    counts = found["counts_per_iteration"]
    assert counts["on"]["kernels"] == [LAUNCHES, LAUNCHES]
    assert counts["finalized"]["calls"] == counts["unsubscribed"]["calls"] == [0, 0]
    assert counts["calls"]["kernels"] == [0, 0] and counts["calls"]["calls"][0] > LAUNCHES
    low, high = counts["window"]["kernels"]
    assert 0 < low <= high < LAUNCHES
    assert found["against_never"].keys() >= {"on", "unsubscribed", "finalized", "window"}


@pytest.mark.slow
def test_only_finalizing_frees_what_stays(figures: Callable[[str], Figures]) -> None:
    found = figures("cost-twins-launches")["against_never"]
    left = {mode: each["cpu"]["median"] for mode, each in found.items()}
    assert left["on"] > left["unsubscribed"] > 2 * abs(left["finalized"])


def test_windows_are_measured_by_the_share_that_they_see(
    figures: Callable[[str], Figures],
) -> None:
    found = figures("cost-share-launches")
    assert found["plain"]["iterations"] > 10
    assert 0 < found["10%"]["seen"] < 0.6
    within = found["10%"]["within"]
    assert within["windows"] > 0 and within["recorded_us"] > 0 and within["between_us"] > 0
    assert found["100%"]["within"] == {}
    assert 0 < found["auto"]["seen"] <= 1


@pytest.mark.parametrize("kind", ["threads", "graphs"])
def test_a_program_lives_through_windows(tmp_path: Path, kit: Path, kind: str) -> None:
    found = answer_of(tmp_path, kit, f"finalize-{kind}", 30)
    assert (found["status"], found["reason"]) == ("PASS", ""), found


def test_callbacks_are_counted(figures: Callable[[str], Figures]) -> None:
    found = figures("cost-calls-launches")
    assert found["per_iteration"]["launch"] == LAUNCHES
    assert found["added"].keys() >= {"driver-launch", "chosen", "all", "runtime-launch"}


@pytest.mark.slow
def test_callbacks_are_measured_by_which_functions_have_them(
    figures: Callable[[str], Figures],
) -> None:
    found = figures("cost-calls-launches")
    for mode, calls in {"driver-launch": LAUNCHES, "chosen": CALLS, "all": CALLS}.items():
        planted = 2 * CALLBACK_NS * calls / LAUNCHES
        assert is_cost(cpu(found, mode, "ns_per_launch"), planted, 2 * calls / LAUNCHES), mode
        assert is_cost(cpu(found, mode, "ns_per_callback"), CALLBACK_NS, 1), mode
    assert abs(cpu(found, "runtime-launch", "ns_per_launch")["median"]) < CHEAP_NS


def test_smaller_buffers_are_more_buffers(figures: Callable[[str], Figures]) -> None:
    found = figures("cost-records-launches")
    buffers = {mode: found["counts_per_iteration"][mode]["buffers"][1] for mode in found["added"]}
    assert buffers["buffers-64K"] > buffers["kinds"]


@pytest.mark.slow
def test_records_are_measured_by_kinds_and_buffers(figures: Callable[[str], Figures]) -> None:
    found = figures("cost-records-launches")
    assert is_cost(cpu(found, "kernels", "ns_per_launch"), ACTIVITY_NS, 1)
    planted, spins = ACTIVITY_NS * CALLS / LAUNCHES, CALLS / LAUNCHES
    for mode in ("kinds", "buffers-64K", "buffers-8M", "buffers-new", "own-flush"):
        assert is_cost(cpu(found, mode, "ns_per_launch"), planted, spins), mode


def test_calls_are_counted_without_cupti_by_functions_in_front(
    figures: Callable[[str], Figures],
) -> None:
    found = figures("cost-interposed-launches")
    assert found["counts_per_iteration"]["calls"]["calls"] == [CALLS, CALLS]


@pytest.mark.slow
def test_calls_are_timed_without_cupti_by_functions_in_front(
    figures: Callable[[str], Figures],
) -> None:
    found = figures("cost-interposed-launches")
    assert cpu(found, "calls", "ns_per_call")["median"] < CALLBACK_NS


LOST = {"SIMCUPTI_DROP_EVERY": "1000"}


@pytest.mark.parametrize("step", ["cost-launches", "cost-off-launches"])
def test_records_that_are_missing_fail_it_with_its_figures(
    tmp_path: Path, kit: Path, step: str
) -> None:
    answer = answer_of(tmp_path, kit, step, 10, **LOST)
    assert answer["status"] == "FAIL" and answer["reason"]
    assert answer["figures"]["blocks"] > 0


@pytest.mark.parametrize(
    ("step", "ending"),
    [
        ("cost-launches", "time.sleep(600)"),
        ("cost-off-launches", "import ctypes; ctypes.string_at(0)"),
    ],
)
def test_a_program_that_does_not_end_well_leaves_what_it_measured(
    tmp_path: Path, step: str, ending: str
) -> None:
    line = "        self._last = mode\n"
    planted = f"{line}        if mode not in (BEFORE, OFF):\n            {ending}\n"
    changes = {**SHORTER, "programs/blocks.py": [*SHORTER["programs/blocks.py"], (line, planted)]}
    answer = answer_of(tmp_path, quick_kit(tmp_path / "kit", changes), step, 10)
    assert answer["status"] == "FAIL" and answer["reason"]
    found = answer["figures"]
    assert found["blocks"] >= 5 and found["before"]["cpu_us"]["median"] > 0


# ---- the plan -----------------------------------------------------------------------------------


GROUP = """
import sys
sys.path[:0] = sys.argv[1:]
import plan
print(*[step.name for step in plan.PLAN if step.group == "cost"])
print(max(step.limit_s for step in plan.PLAN if step.group == "cost"))
"""


def test_the_steps_of_a_group_come_first_and_fit_into_12_minutes() -> None:
    folders = [str(ACCEPTANCE.parent), str(ACCEPTANCE.parents[1])]
    command = [sys.executable, "-c", GROUP, *folders]
    names, longest = subprocess.check_output(command, text=True).splitlines()
    command = [sys.executable, str(ACCEPTANCE), "--list", "--minutes", "12", "--first", "cost"]
    listed = [line.split() for line in subprocess.check_output(command, text=True).splitlines()]
    group = names.split()
    assert [words[3] for words in listed[: len(group)]] == group
    assert {words[0] for words in listed[: len(group)]} == {"now"}
    assert float(longest) <= 90


def test_an_unknown_group_is_an_error() -> None:
    command = [sys.executable, str(ACCEPTANCE), "--list", "--first", "costs"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "invalid choice: 'costs'" in done.stderr
