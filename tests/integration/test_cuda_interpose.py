"""`rls-prof --cuda=interpose`: times of runtime calls without CUPTI; what is missing is said."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from support.cuda.runs import PROF, CudaRun, record_cuda
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import PROGRAMS, SIMCUDA

from rlscope.recorder import LIBRARY

CUDART = str(Path(LIBRARY).with_name("librlscope_cudart.so"))
HEADER = SIMCUDA.parent.parent / "csrc" / "preload" / "cudart" / "calls.h"
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


def said(run: CudaRun, verb: str) -> str:
    """The words of `rlscope summary` or of the page of `rlscope report`."""
    done = subprocess.run(
        [PROF.with_name("rlscope"), verb, run.directory], capture_output=True, text=True
    )
    page = run.directory / "report.html"
    text = done.stdout if verb == "summary" else page.read_text()
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_everything_made_from_it_says_what_is_missing(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), "5", "1"]
    run = record_cuda(tmp_path, program, prof=INTERPOSE)
    assert "no GPU work" in run.metadata(run.pids()[0])["cuda"]
    for verb in ("summary", "report"):
        words = said(run, verb)
        assert "recorded without CUPTI (--cuda=interpose)" in words
        assert "GPU time is" not in words and "had no GPU work" not in words


def test_what_it_cannot_see_is_null_and_explained(tmp_path: Path) -> None:
    run = record_cuda(tmp_path, [str(PROGRAMS / "training13"), "5", "1"], prof=INTERPOSE)
    for relation, column in (("api_call", "with_work"), ("breakdown", "gpu_busy")):
        assert {row[column] for row in run.query(f"SELECT {column} FROM {relation}")} == {None}
        (row,) = run.query(f"""SELECT reason FROM absent
                               WHERE relation = '{relation}' AND column_name = '{column}'""")
        assert "--cuda=interpose" in row["reason"]


def test_a_program_that_calls_the_driver_alone(tmp_path: Path) -> None:
    run = record_script(tmp_path, "begin()\nwork()", prof=INTERPOSE)
    assert run.outcome.operations(kind="kernel") and not recorded(run)
    words = said(run, "summary")
    assert "--cuda=interpose records only calls of the CUDA runtime library" in words
    assert "no process initialised CUDA" not in words


# A runtime library that the process loaded for itself is found after the preloaded one.
BY_NAME = """
import ctypes
from ctypes import byref, c_size_t, c_void_p
own, front = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL(None)
memory, pitch, host = c_void_p(), c_size_t(), (ctypes.c_char * 4096)()
wide, high, none = c_size_t(64), c_size_t(4), c_void_p()
assert front.cudaMallocPitch(byref(memory), byref(pitch), wide, high) == 0
assert front.cudaMemset2D(memory, pitch, 0, wide, high) == 0
assert front.cudaMemset2DAsync(memory, pitch, 0, wide, high, none) == 0
front.cudaHostRegister(host, c_size_t(4096), 0)
front.cudaHostUnregister(host)
for stream in ([], [none]):
    name = "Async" if stream else ""
    getattr(front, f"cudaMemcpyToSymbol{name}")(none, host, wide, c_size_t(0), 1, *stream)
    getattr(front, f"cudaMemcpyFromSymbol{name}")(host, none, wide, c_size_t(0), 2, *stream)
    getattr(front, f"cudaMemcpy3D{name}")((ctypes.c_char * 256)(), *stream)
front.cudaMallocFromPoolAsync(byref(memory), c_size_t(64), none, none)
front.cudaDeviceReset()
"""


def test_functions_are_found_in_a_library_that_was_loaded_later(tmp_path: Path) -> None:
    script = tmp_path / "by_name.py"
    script.write_text(BY_NAME)
    run = record_cuda(tmp_path, [str(PROF.with_name("python")), str(script)], prof=INTERPOSE)
    calls = run.outcome.calls(domain="runtime", depth=0)
    assert recorded(run) == Counter(row["name"] for row in calls)
    assert recorded(run).total() == 13
    (row,) = run.query("SELECT SUM(errors)::BIGINT AS errors FROM api_call")
    assert row["errors"] == sum(call["status"] != 0 for call in calls)


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
