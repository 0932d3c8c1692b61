"""`rls-prof --cuda=interpose`: times of runtime calls without CUPTI; what is missing is said."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from cuda_runs import PROF, CudaRun, record_cuda
from simcuda_runs import PROGRAMS, SIMCUDA

from rlscope.native import LIBRARY

CUDART = str(Path(LIBRARY).with_name("librlscope_cudart.so"))
HEADER = SIMCUDA.parent.parent / "csrc" / "interpose" / "cudart" / "calls.h"
INTERPOSE = ("--cuda", "interpose")


def wrapped_names() -> set[str]:
    """The functions of the header's table, with their variants."""
    rows = re.findall(r"^ +([XY])\((\w+)(?:, (_\w+))?,", HEADER.read_text(), re.MULTILINE)
    return {name for _, name, _ in rows} | {name + variant for _, name, variant in rows if variant}


def recorded(run: CudaRun) -> Counter[str]:
    rows = run.query("""SELECT name, count(*)::BIGINT AS calls FROM event
                        WHERE layer = 'cuda_api' GROUP BY name""")
    return Counter({row["name"]: row["calls"] for row in rows})


@pytest.mark.parametrize("cuda", ["12", "13"])
def test_calls_of_the_runtime_library_are_recorded(tmp_path: Path, cuda: str) -> None:
    program = [str(PROGRAMS / f"training{cuda}"), "40", "3"]
    run = record_cuda(tmp_path, program, "--cuda", cuda, prof=INTERPOSE, SIMCUPTI="absent")
    calls = run.outcome.calls(domain="runtime")
    expected = Counter(row["name"] for row in calls if row["name"] in wrapped_names())
    assert recorded(run) == expected
    assert expected.total() > 800
    assert not run.query("SELECT * FROM event WHERE layer = 'gpu'")


def test_everything_made_from_it_says_what_is_missing(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), "5", "1"]
    run = record_cuda(tmp_path, program, prof=INTERPOSE)
    assert "no GPU work" in run.metadata(run.pids()[0])["cuda"]
    for verb in ("summary", "report"):
        done = subprocess.run(
            [PROF.with_name("rlscope"), verb, run.directory], capture_output=True, text=True
        )
        page = run.directory / "report.html"
        text = done.stdout if verb == "summary" else page.read_text()
        words = " ".join(re.sub(r"<[^>]*>", " ", text).split())
        assert "recorded without CUPTI (--cuda=interpose): no GPU work" in words


def test_a_program_without_cuda_runs_as_ever(tmp_path: Path) -> None:
    command = [str(PROF.with_name("python")), "-c", "import ctypes; print(2 + 2)"]
    run = record_cuda(tmp_path, command, prof=INTERPOSE)
    assert run.outcome.out == "4\n"
    assert not run.query("SELECT * FROM loss")


def test_the_library_has_these_names_and_needs_the_c_library_only() -> None:
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", CUDART], capture_output=True, text=True, check=True
    ).stdout
    assert {line.split()[-1] for line in listing.splitlines()} == wrapped_names()
    dynamic = subprocess.run(["readelf", "-dW", CUDART], capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    assert needed == {"librlscope.so", "libc.so.6"}
