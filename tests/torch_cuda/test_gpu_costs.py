"""The kit's steps about costs whose loops need PyTorch: its CUDA wheel, on simulated CUDA."""

from __future__ import annotations

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
    may_be_cost,
    quick_kit,
)
from support.cuda.torch_cuda_runs import torch_python

# Bounds of times, which a busy machine crosses: before a release, on a machine that is idle.
pytestmark = [pytest.mark.torch_cuda, pytest.mark.slow]

LOOPS = ("sac", "dqn", "ppo-vector", "ppo-pixels", "sampling", "sampling-cached")
LIMIT = 60
OWN_SPINS = 2
"""The simulated CUPTI works on a record, too, and the record is read: as long as one more spin."""
# The stand-in for cuDNN cannot convolve; PyTorch has convolutions of its own.
WITHOUT_CUDNN = (
    "    body = Pixels()",
    "    torch.backends.cudnn.enabled = False\n    body = Pixels()",
)
CHANGES = {
    **SHORTER,
    "programs/loops/proximal_pixels.py": [WITHOUT_CUDNN],
    "programs/blocks.py": [("BLOCK_SECONDS = 0.15", "BLOCK_SECONDS = 0.08")],
}


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quick_kit(tmp_path_factory.mktemp("kit"), CHANGES)


def figures(
    folder: Path, kit: Path, step: str, limit: int = LIMIT, **environment: str
) -> dict[str, Any]:
    planted = COSTS | environment
    answer = answer_of(folder, kit, step, limit, python=torch_python(), **planted)
    assert (answer["status"], answer["reason"]) == ("PASS", ""), answer
    found: dict[str, Any] = answer["figures"]
    return found


@pytest.mark.parametrize("loop", LOOPS)
def test_recording_a_loop_costs_what_is_planted(tmp_path: Path, kit: Path, loop: str) -> None:
    found = figures(tmp_path, kit, f"cost-{loop}")
    added = {mode: each["cpu"] for mode, each in found["added"].items()}
    each = found["per_iteration"]
    assert each["record"] >= each["launch"] > 20
    # A call of the runtime has a call of the driver inside, most of which have callbacks too.
    per_call = added["calls"]["ns_per_call"]["median"]
    assert 2 * CALLBACK_NS <= per_call <= 2 * 4 * CALLBACK_NS
    assert may_be_cost(added["work"]["ns_per_record"], ACTIVITY_NS, OWN_SPINS)
    assert added["all"]["us"]["median"] > added["calls"]["us"]["median"]


@pytest.mark.parametrize("loop", LOOPS)
def test_pytorchs_profiler_is_measured_beside_it(tmp_path: Path, kit: Path, loop: str) -> None:
    found = figures(tmp_path, kit, f"profiler-{loop}")
    assert found["added"].keys() == {"cpu+cuda", "cuda"}
    assert found["per_iteration"]["launch"] > 20
    for mode in found["added"].values():
        assert mode["cpu"]["us"]["median"] > 0
    assert found["before"]["cpu_us"]["median"] > 0
    assert found["switching"]["off"]["cpu_us"]["high"] > 0


def test_a_real_loop_is_measured_beside_a_process_without_cupti(tmp_path: Path, kit: Path) -> None:
    found = figures(tmp_path, kit, "cost-twins-dqn", **ATTACHED)
    assert found["counts_per_iteration"]["window"]["kernels"][0] > 0
    left = {mode: each["cpu"]["median"] for mode, each in found["against_never"].items()}
    assert left["on"] > left["unsubscribed"] > left["finalized"]


def test_turning_cupti_off_in_a_real_loop(tmp_path: Path, kit: Path) -> None:
    found = figures(tmp_path, kit, "cost-off-sac", **ATTACHED)
    assert found["exact"]["same"]
    steps = found["steps"]
    left = {step: steps[step]["against_before"]["cpu"]["ns_per_launch"] for step in steps}
    order = ("on", "kinds-off", "callbacks-off", "finalized")
    medians = [left[step]["median"] for step in order]
    assert medians == sorted(medians, reverse=True)
    assert left["unsubscribed"]["median"] > ATTACHED_NS


def test_settings_in_a_real_loop(tmp_path: Path, kit: Path) -> None:
    calls = figures(tmp_path, kit, "cost-calls-sac")["added"]
    per_launch = {mode: each["cpu"]["ns_per_launch"] for mode, each in calls.items()}
    for mode in ("driver-launch", "runtime-launch"):
        assert may_be_cost(per_launch[mode], 2 * CALLBACK_NS, 1 + OWN_SPINS), per_launch
    # Both functions of a launch have callbacks, and other calls have some too.
    assert per_launch["chosen"]["median"] > per_launch["driver-launch"]["median"]
    records = figures(tmp_path, kit, "cost-records-sac")["added"]
    assert may_be_cost(records["kernels"]["cpu"]["ns_per_launch"], ACTIVITY_NS, OWN_SPINS)
    flushed = figures(tmp_path, kit, "cost-flush-sac", 80)["added"]
    assert flushed.keys() == {"flush-never", "flush-1s", "flush-200ms", "flush-100ms"}


def test_attributes_in_a_real_loop(tmp_path: Path, kit: Path) -> None:
    found = figures(tmp_path, kit, "cost-attributes-sac", 85)
    assert "added" in found["as-it-is"] and "added" in found["shared-buffers"]
    # The simulated CUPTI has no such times: it says so, and the answer has it.
    assert "client_time_latency(1,)" in found["latency-timestamps"]["refused"]


def test_functions_in_front_see_the_launches_of_a_real_loop(tmp_path: Path, kit: Path) -> None:
    found = figures(tmp_path, kit, "cost-interposed-sac")
    assert found["counts_per_iteration"]["calls"]["calls"][0] > 50
