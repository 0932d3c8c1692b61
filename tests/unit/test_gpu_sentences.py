"""What is said of GPU work outside of windows, and of what recording CUDA took."""

from __future__ import annotations

from typing import Any

from support.files.facts import assert_says

from rlscope.report import gpu_sentences

ESTIMATE: dict[str, Any] = {
    "process_id": 0, "name": "train", "seen": 120, "iterations": 1000, "unknown": 0, "unlike_ns": 0,
    "duration_ns": 1_000_000,
    "kernels": 1_234_567, "kernels_low": 1_211_111, "kernels_high": 1_255_555,
    "busy_ns": 310_000, "busy_ns_low": 290_000, "busy_ns_high": 330_000,
}  # fmt: skip
COST: dict[str, Any] = {
    "process_id": 0, "name": "train", "windows": 33, "iterations": 1000, "duration_ns": 1_000_000,
    "share": 0.023, "share_low": 0.019, "share_high": 0.026,
    "slower": 0.27, "slower_low": 0.25, "slower_high": 0.29,
}  # fmt: skip
TOTAL = {"calls": 4000, "launches": 460_000, "calls_everywhere": True}
UNKNOWN = {"unknown_costs": "CUDA call, CUDA submission"}


def test_gpu_time_of_all_iterations_is_said_with_its_interval_and_what_was_seen() -> None:
    (said,) = gpu_sentences.busy([ESTIMATE])
    assert_says(
        said,
        "GPU busy about 31.0 % (29.0 % to 33.0 %), seen in 12.0 % of the iterations.",
        "about 1,235,000 kernels (1,211,000 to 1,256,000)",
    )
    assert "train" not in said and "do not count" not in said


def test_several_processes_are_told_apart() -> None:
    first, second = gpu_sentences.busy([ESTIMATE, {**ESTIMATE, "name": "actor"}])
    assert first.startswith("train: GPU busy") and second.startswith("actor: GPU busy")


def test_iterations_of_unseen_kinds_are_said() -> None:
    (said,) = gpu_sentences.busy([{**ESTIMATE, "unknown": 60}])
    assert "6.0 % of the iterations are of a kind that no window has" in said
    (few,) = gpu_sentences.busy([{**ESTIMATE, "unknown": 4}])
    assert "do not count" not in few
    (said,) = gpu_sentences.busy([{**ESTIMATE, "unlike_ns": 60_000}])
    assert "Iterations with 6.0 % of the time are much longer" in said


def test_too_few_windows_give_no_number() -> None:
    (said,) = gpu_sentences.busy([{**ESTIMATE, "kernels": None}])
    assert_says(said, "12.0 % of the iterations", "too few windows")
    (said,) = gpu_sentences.cost([{**COST, "share": None}], [TOTAL], UNKNOWN)
    assert_says(said, "not measured", "too few windows")


def test_what_windows_took_is_said_and_what_they_cannot_see() -> None:
    (said,) = gpu_sentences.cost([COST], [TOTAL], UNKNOWN)
    assert_says(
        said,
        *("34 windows", "2.3 % of the iterations (1.9 % to 2.6 %)"),
        *("27.0 % longer (25.0 % to 29.0 %)", "4,000 CUDA calls"),
        "on an H100 it was 0.0 % to 5.0 % of a loop.",
    )
    (said,) = gpu_sentences.cost([COST], [{**TOTAL, "calls_everywhere": False}], UNKNOWN)
    assert "H100" not in said
    (said,) = gpu_sentences.cost([COST], [TOTAL], {"unknown_costs": None})
    assert "H100" not in said


def test_a_difference_that_may_be_none_is_not_said_to_be_one() -> None:
    (said,) = gpu_sentences.cost([{**COST, "slower": -0.2, "slower_low": -0.4}], [TOTAL], UNKNOWN)
    assert "cannot tell" in said and "% longer" not in said


def test_without_windows_launches_are_priced_by_an_h100_and_not_as_measured() -> None:
    (said,) = gpu_sentences.cost([], [TOTAL], UNKNOWN)
    parts = ("on an H100", "920 ms to 6.44 s", "460,000 launches", "about 3.68 s of CPU time")
    assert_says(said, "is not measured", *parts, "--gpu-share 10%")
    (brief,) = gpu_sentences.cost([], [TOTAL], UNKNOWN, brief=True)
    assert said.startswith(brief)


def test_a_calibration_or_no_launch_leaves_nothing_to_say() -> None:
    assert not gpu_sentences.cost([], [TOTAL], {"unknown_costs": None})
    assert not gpu_sentences.cost([], [{**TOTAL, "launches": 0}], UNKNOWN)


CHOICE: dict[str, Any] = {
    "process_id": 0, "name": "train", "recorded": "all", "why": "few_launches",
    "launches_per_s": 412.0, "slower_high": None, "after_ns": 8_000_000_000, "problem": None,
}  # fmt: skip


def test_what_was_recorded_is_said_with_the_reason() -> None:
    (few,) = gpu_sentences.choices([CHOICE])
    assert_says(
        few, "All GPU work was recorded", "412 launches a second", "at most 0.6 %", "an H100"
    )
    many = {**CHOICE, "recorded": "windows", "why": "many_launches", "launches_per_s": 20_000.0}
    (said,) = gpu_sentences.choices([CHOICE, many])
    assert_says(
        said, "From second 8 of the process on", "in windows", "20,000", "up to 28.0 %", "an H100"
    )
    cheap = {**CHOICE, "why": "cheap", "launches_per_s": None, "slower_high": 0.012}
    (said,) = gpu_sentences.choices([CHOICE, many, cheap])
    assert_says(said, "at most 1.2 % of the loop", "From second 8 of the process on, all")
    (said,) = gpu_sentences.choices([{**CHOICE, "why": "graphs", "launches_per_s": 9_000.0}])
    assert_says(said, "9,000 launches a second", "CUDA graphs", "--cuda-graph-trace node")


def test_why_there_could_be_no_windows_is_said_once() -> None:
    old = {**CHOICE, "why": None, "problem": "CUDA before 12.6"}
    assert gpu_sentences.choices([old, {**old, "name": "train"}]) == [
        "All GPU work was recorded: CUDA before 12.6."
    ]
