"""`rlscope doctor`: each thing that can be wrong is a line with its remedy."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from rlscope.commands import main
from rlscope.doctor import checks, probes
from rlscope.doctor.finding import Finding, Status
from rlscope.errors import RlscopeError
from rlscope.recorder import LIBRARY

VERSION = metadata.version("rlscope")


def python_facts(**changes: Any) -> dict[str, Any]:
    """A good interpreter, except for `changes`."""
    return {
        "version": "3.11.7",
        "implementation": "CPython",
        "executable": "/venv/bin/python",
        "libraries": {"rlscope": VERSION},
        "line": True,
        "recorder": {"reason": "", "engine": "patch", "engine_reason": ""},
        **changes,
    }


def cuda_facts(*, driver: dict[str, Any] | None = None, cupti: Any = None) -> dict[str, Any]:
    """A good CUDA, except for these."""
    good = {"reason": "", "version": 13000, "init": 0, "devices": ["H200"]}
    return {"driver": {**good, **(driver or {})}, "cupti": [cupti_facts(**(cupti or {}))]}


def cupti_facts(**changes: Any) -> dict[str, Any]:
    """A good CUPTI, except for `changes`."""
    found = {"path": "/cuda/libcupti.so.13", "reason": "", "version": 130001, "major": 13}
    return {"wanted": 0, "driver": 13000, **found, "subscribe": 0, "enable": 0, **changes}


def only(findings: Any) -> Finding:
    (finding,) = findings
    assert isinstance(finding, Finding)
    return finding


def test_a_good_interpreter_has_no_remedy() -> None:
    findings = list(checks.python_findings(python_facts(), VERSION))
    assert [finding.status for finding in findings] == [Status.GOOD, Status.GOOD]
    assert not any(finding.remedy for finding in findings)


@pytest.mark.parametrize(
    ("changes", "text", "remedy"),
    [
        ({"libraries": {}, "recorder": None}, "has no rlscope", "-m pip install ."),
        ({"recorder": {"reason": "no such file"}}, "no such file", "-m pip install ."),
        (
            {"libraries": {"rlscope": "0.0.1"}},
            "has rlscope 0.0.1",
            f"a checkout of rlscope {VERSION}:",
        ),
        ({"line": False}, "rlscope.pth", "--force-reinstall"),
    ],
)
def test_an_interpreter_that_is_not_recorded(
    changes: dict[str, Any], text: str, remedy: str
) -> None:
    finding = next(iter(checks.python_findings(python_facts(**changes), VERSION)))
    assert finding.status is Status.BAD
    assert text in finding.text
    assert remedy in finding.remedy


@pytest.mark.parametrize(
    ("engine", "status"), [("monitoring", Status.LIMITED), ("off", Status.BAD)]
)
def test_a_lesser_engine_says_why(engine: str, status: Status) -> None:
    recorder = {"reason": "", "engine": engine, "engine_reason": "the kernel refuses"}
    *_, calls = checks.python_findings(python_facts(recorder=recorder), VERSION)
    assert calls.status is status
    assert "the kernel refuses" in calls.text


def test_libraries_are_those_that_would_be_layers() -> None:
    libraries = {"torch": "2.13.0", "ale-py": "0.12", "numpy": "2.4", "psutil": "7"}
    framework, simulator = checks.library_findings(python_facts(libraries=libraries))
    assert framework.text == "torch 2.13.0"
    assert simulator.text == "ale-py 0.12"


@pytest.mark.parametrize(
    ("package", "distribution"),
    [("ale_py", "ale-py"), ("Box2D", "box2d"), ("torch", "torch"), ("mujoco_py", "mujoco-py")],
)
def test_a_package_comes_with_a_distribution(package: str, distribution: str) -> None:
    assert probes.distribution(package) == distribution


def test_no_driver_is_no_failure() -> None:
    finding = only(checks.cuda_findings(cuda_facts(driver={"reason": "not found"})))
    assert finding.status is Status.ABSENT


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (cuda_facts(driver={"init": 999}), "999"),
        (cuda_facts(cupti={"reason": "wrong ELF class"}), "wrong ELF class"),
        (cuda_facts(cupti={"wanted": 12, "reason": "not found"}), "no CUPTI for CUDA 12"),
        (cuda_facts(cupti={"driver": 12000}), "newer than the driver, which is for CUDA 12.0"),
        (cuda_facts(cupti={"subscribe": 999}), "gives no reason (999), so neither CUDA calls"),
        (cuda_facts(cupti={"subscribe": 39}), "another profiler holds CUPTI's one subscription"),
        (cuda_facts(cupti={"enable": 40}), "hypervisor"),
        (cuda_facts(cupti={"enable": 41}), "confidential computing mode (41), so no GPU work"),
        (cuda_facts(cupti={"enable": 43}), "MIG"),
        ({"reason": "python did not answer: exit code -11"}, "exit code -11"),
    ],
)
def test_a_cuda_that_cannot_be_recorded(facts: dict[str, Any], text: str) -> None:
    bad = [finding for finding in checks.cuda_findings(facts) if finding.status is Status.BAD]
    assert text in only(bad).text


def test_profiling_for_administrators_only(tmp_path: Path, monkeypatch: Any) -> None:
    parameters = tmp_path / "params"
    parameters.write_text("ResmanDebugLevel: 1\nRmProfilingAdminOnly: 1\n")
    monkeypatch.setattr(checks, "_DRIVER_PARAMETERS", str(parameters))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert any(
        "NVreg_RestrictProfilingToAdminUsers=0" in finding.remedy
        for finding in checks.cuda_findings(cuda_facts())
    )
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert all(finding.status is Status.GOOD for finding in checks.cuda_findings(cuda_facts()))


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"CUDA_INJECTION64_PATH": "/opt/nsys/lib.so"}, "another tool's"),
        ({"KINETO_USE_DAEMON": "1"}, "KINETO_USE_DAEMON"),
        ({"RLSCOPE_DRI": "x"}, "RLSCOPE_DRI is unknown"),
    ],
)
def test_an_environment_that_is_in_the_way(environ: dict[str, str], text: str) -> None:
    assert text in only(checks.environment_findings(environ, LIBRARY)).text


def test_our_own_injection_is_no_finding() -> None:
    assert not list(checks.environment_findings({"CUDA_INJECTION64_PATH": LIBRARY}, LIBRARY))


def test_a_full_disk_names_the_option(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("RLSCOPE_MIN_FREE", str(1 << 60))
    disk = [f for f in checks.machine_findings(str(tmp_path)) if f.subject == "disk"]
    assert "RLSCOPE_MIN_FREE" in only(disk).remedy


def test_the_probe_answers_in_this_interpreter() -> None:
    facts = probes.python_facts(sys.executable, {})
    assert facts["version"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["libraries"]["rlscope"] == VERSION
    assert facts["libraries"]["numpy"] == metadata.version("numpy")
    assert facts["recorder"]["engine"] in ("patch", "monitoring")


def test_what_is_no_interpreter_is_one_sentence() -> None:
    with pytest.raises(RlscopeError, match="no such interpreter: /nowhere/python"):
        probes.python_facts("/nowhere/python", {})
    with pytest.raises(RlscopeError, match="did not answer"):
        probes.python_facts("/bin/true", {})


def test_a_probe_that_dies_is_a_finding(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nkill -SEGV $$\n")
    broken.chmod(0o755)
    (finding,) = checks.cuda_findings(probes.cuda_facts(str(broken), [], {}))
    assert finding.status is Status.BAD
    assert "-11" in finding.text


def test_lines_and_json_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor"])
    lines = capsys.readouterr().out
    assert main(["doctor", "--format", "json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert code == any(each["status"] == "bad" for each in found)
    assert {"python", "native calls", "clock", "disk", "cuda"} <= {
        each["subject"] for each in found
    }
    assert all(each["text"] in lines and each["remedy"] in lines for each in found)


def test_a_python_without_rlscope_is_exit_1(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    assert main(["doctor", "--python", str(tmp_path / "bare/bin/python")]) == 1
