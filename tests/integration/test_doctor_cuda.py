"""`rlscope doctor` on the simulated CUDA: what CUPTI refuses is a line with its remedy."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.cuda.simcuda_runs import run_simulated

from rlscope.doctor import checks, probe_cuda
from rlscope.doctor.finding import Finding, Status

PROBE = probe_cuda.__file__


def cupti_line(folder: Path, *options: str, major: int = 0, **knobs: str) -> Finding:
    """The doctor's line about CUPTI there."""
    done = run_simulated(folder, [sys.executable, PROBE, str(major)], *options, **knobs)
    assert done.code == 0, done.err
    found = checks.cuda_findings(json.loads(done.out))
    (finding,) = (each for each in found if each.subject == "cupti")
    return finding


@pytest.mark.parametrize("cuda", ["12", "13"])
def test_a_cupti_that_works_is_good(tmp_path: Path, cuda: str) -> None:
    knobs = {"SIMCUDA_DRIVER_VERSION": f"{cuda}000"}
    finding = cupti_line(tmp_path, "--cuda", cuda, major=int(cuda), **knobs)
    assert finding.status is Status.GOOD, finding.text
    assert f"libcupti.so.{cuda}" in finding.text


@pytest.mark.parametrize(
    ("knobs", "text", "remedy"),
    [
        ({"SIMCUPTI_SUBSCRIBE_STATUS": "39"}, "holds CUPTI's one subscription (39)", "nsys"),
        ({"SIMCUPTI_SUBSCRIBE_STATUS": "14"}, "newer interface", "end that profiler"),
        ({"SIMCUPTI_SUBSCRIBE_STATUS": "15"}, "cannot connect to the driver", "driver's CUDA"),
        (
            {"SIMCUPTI_SUBSCRIBE_STATUS": "999"},
            "cannot connect to the driver, or gives no reason",
            "interpose",
        ),
        ({"SIMCUPTI_ENABLE_STATUS": "35"}, "administrators profile (35), so no GPU work", "NVreg_"),
    ],
)
def test_what_is_refused_is_bad(
    tmp_path: Path, knobs: dict[str, str], text: str, remedy: str
) -> None:
    finding = cupti_line(tmp_path, **knobs)
    assert finding.status is Status.BAD
    assert text in finding.text and remedy in finding.remedy


def test_an_absent_cupti_is_bad(tmp_path: Path) -> None:
    # A toolkit of this machine may have one, which does not work on the simulated driver.
    finding = cupti_line(tmp_path, SIMCUPTI="absent")
    assert finding.status is Status.BAD
    assert "not found" in finding.text or "refuses" in finding.text


def test_a_cupti_of_another_major_is_bad(tmp_path: Path) -> None:
    driver = {"SIMCUDA_DRIVER_VERSION": "12000"}
    finding = cupti_line(tmp_path, "--cuda", "13", major=13, **driver)
    assert finding.status is Status.BAD
    assert "newer than the driver, which is for CUDA 12.0" in finding.text
    assert finding.remedy == "pip install nvidia-cuda-cupti-cu12"
    passed_over = cupti_line(tmp_path, "--cuda", "13", **driver)
    assert passed_over.status is Status.BAD
    assert passed_over.remedy.startswith(finding.remedy)
    wanted = cupti_line(tmp_path, "--cuda", "13", major=11)
    assert "no CUPTI for CUDA 11: not found" in wanted.text


def test_a_cupti_that_may_end_the_program_is_bad(tmp_path: Path) -> None:
    finding = cupti_line(tmp_path, "--cupti", "13.2", SIMCUDA_DRIVER_VERSION="13000")
    assert finding.status is Status.BAD
    assert "may end the program unless the driver is for CUDA 13.2" in finding.text
    assert finding.remedy.startswith("pip install nvidia-cuda-cupti")


def test_candidates_are_in_the_recorders_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", "/home/cuda")
    found = list(probe_cuda.candidates(["/wheel"], [13]))
    assert found[:3] == [
        "/wheel/libcupti.so.13",
        "libcupti.so.13",
        "/home/cuda/lib64/libcupti.so.13",
    ]
    toolkits = [path for path in found if path.startswith("/usr/local/")]
    assert toolkits[0] == "/usr/local/cuda/lib64/libcupti.so.13"
    assert len(toolkits) == 12
    assert len(list(probe_cuda.candidates(["/wheel"], [13, 12, 11]))) == 4 * len(found)
