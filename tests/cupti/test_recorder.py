"""The recorder and doctor with real libraries, which have no driver to connect to: no program is
harmed, and what they say is what they say of the simulated CUPTI of that release."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from support.cuda.cupti_releases import FETCHED, SIMULATED, Release, every_release
from support.cuda.runs import CudaRun, record_cuda
from support.cuda.scripts import WORK
from support.cuda.simcuda_runs import DECLARATIONS, run_simulated

from rlscope.doctor import checks, probe_cuda
from rlscope.doctor.finding import Status
from rlscope.recorder import LIBRARY

NOT_CONNECTED = "CUPTI cannot connect to the driver"
MAY_END = "CUPTI 13.2 may end the program unless the driver is for CUDA 13.2 or newer"


def expected(release: Release) -> str:
    """Why CUDA is not recorded with this release."""
    if release.version == (13, 2):
        return MAY_END
    if release.major < 13:
        return f"{NOT_CONNECTED} (15)"
    return f"{NOT_CONNECTED}, or gives no reason (999)"


# The newest release of each answer.
DISTINCT = {expected(release): release for release in SIMULATED}
every = every_release(FETCHED)
every_answer = every_release(DISTINCT.values())


def record(folder: Path, script: str, *options: str, **environment: str) -> CudaRun:
    """Runs a script to its end under rls-prof."""
    file = folder / "script.py"
    file.write_text(f"{DECLARATIONS}{WORK}{script}\nprint('unharmed')\n")
    run = record_cuda(folder, [sys.executable, str(file)], *options, **environment)
    assert run.outcome.out == "unharmed\n"
    return run


def driver(major: int) -> dict[str, str]:
    """A driver of the first CUDA of a major."""
    return {"SIMCUDA_DRIVER_VERSION": f"{major}000"}


def note(run: CudaRun) -> dict[str, Any]:
    """What the process said of CUDA."""
    (row,) = run.query("SELECT value FROM metadata WHERE key = 'cuda'")
    said: dict[str, Any] = json.loads(row["value"])
    return said


@every
def test_a_cupti_that_cannot_connect_is_a_sentence(tmp_path: Path, release: Release) -> None:
    where = {"RLSCOPE_CUPTI": str(release.library.parent), **driver(release.major)}
    said = note(record(tmp_path, "begin()\nwork()", **where))
    assert said["library"] == str(release.library)
    assert said["problem"] == f"CUDA is not recorded: {expected(release)}"


@every_answer
def test_it_is_that_of_the_simulated_one(tmp_path: Path, release: Release) -> None:
    options = ("--cuda", str(release.major), "--cupti", release.name)
    knobs = {"SIMCUPTI_CONNECTION": "refuse", **driver(release.major)}
    said = note(record(tmp_path, "begin()\nwork()", *options, **knobs))
    assert said["library"] == f"libcupti.so.{release.major}"
    assert said["problem"] == f"CUDA is not recorded: {expected(release)}"


@every_answer
def test_nor_is_a_program_harmed_where_there_is_no_driver(tmp_path: Path, release: Release) -> None:
    inject = f"import ctypes\nassert ctypes.CDLL({str(LIBRARY)!r}).InitializeInjection() == 1\n"
    file = tmp_path / "script.py"
    file.write_text(inject + "print('unharmed')\n")
    where = {"RLSCOPE_CUPTI": str(release.library.parent), "SIMCUDA_DRIVER": "absent"}
    run = record_cuda(tmp_path, [sys.executable, str(file)], SIMCUPTI="absent", **where)
    assert run.outcome.out == "unharmed\n"
    assert note(run)["library"] == str(release.library)
    assert note(run)["problem"] == f"CUDA is not recorded: {expected(release)}"


@every_answer
def test_one_that_is_newer_than_the_driver_is_not_asked(tmp_path: Path, release: Release) -> None:
    load = f"ctypes.CDLL({str(release.library)!r})\n"  # what is mapped is the one that counts
    older = release.major - 1
    said = note(record(tmp_path, load + "begin()\nwork()", **driver(older)))
    why = f"CUPTI {release.major} is newer than the driver, which is for CUDA {older}"
    problem = f"CUDA is not recorded: {why}"
    assert said == {"library": str(release.library), "problem": problem, "missing": "all"}


@every
def test_doctor_says_it_beforehand(tmp_path: Path, release: Release) -> None:
    probe = [sys.executable, probe_cuda.__file__, str(release.major), str(release.library.parent)]
    done = run_simulated(tmp_path, probe, **driver(release.major))
    assert done.code == 0, done.err
    found = checks.cuda_findings(json.loads(done.out))
    (finding,) = (each for each in found if each.subject == "cupti")
    assert finding.status is Status.BAD
    assert str(release.library) in finding.text
    assert expected(release) in finding.text
