"""Where CUPTI is looked for, one place after the other, by the recorder itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.cuda.runs import CudaRun, check_calls, check_work, record_cuda
from support.cuda.scripts import record_script
from support.cuda.simcuda_runs import PROGRAMS, built

LIBRARIES = PROGRAMS.parent / "lib"
CUPTI, CUDART = "libcupti.so.13", "libcudart.so.13"
OLDER = "libcupti.so.12"
FOLDERS = {CUPTI: "cupti13-13.0", OLDER: "cupti12-12.8", CUDART: "runtime13"}
WORK = "begin()\nwork()\n"
LOADED = "ctypes.CDLL({library!r})\n" + WORK


def place(folder: Path, library: str = CUPTI) -> str:
    """A copy of a simulated library in a folder of its own; the folder."""
    built()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(LIBRARIES / FOLDERS[library] / library, folder / library)
    return str(folder)


def found(run: CudaRun) -> str:
    """The CUPTI that recorded the program, all of it."""
    (pid,) = run.pids()
    check_calls(run, pid)
    check_work(run, pid)
    assert run.calls(pid)
    library: str = json.loads(run.metadata(pid)["cuda"])["library"]
    return library


def test_by_default_it_is_the_loaders(tmp_path: Path) -> None:
    toolkit = tmp_path / "toolkit"
    place(toolkit / "lib64")
    assert found(record_script(tmp_path, WORK, CUDA_HOME=str(toolkit))) == CUPTI


def test_a_named_folder_comes_before_the_loaders(tmp_path: Path) -> None:
    named = place(tmp_path / "named")
    run = record_script(tmp_path, WORK, RLSCOPE_CUPTI=f"{tmp_path / 'absent'}:{named}")
    assert found(run) == f"{named}/{CUPTI}"


# CUDA 11 numbers the minor, too.
@pytest.mark.parametrize("library", ["libcupti.so.11.8", "libcupti.so.11.7"])
def test_that_of_cuda_11_is_found_by_each_name_that_it_had(tmp_path: Path, library: str) -> None:
    folder = place(tmp_path / "named", OLDER)
    (Path(folder) / OLDER).rename(Path(folder) / library)
    paths = {"RLSCOPE_CUPTI": folder, "SIMCUPTI": "absent", "SIMCUDA_DRIVER_VERSION": "12080"}
    assert found(record_script(tmp_path, WORK, **paths)) == f"{folder}/{library}"


# Nothing but the driver shows the major of a program that links its runtime statically.
@pytest.mark.parametrize(("driver", "library"), [(12080, OLDER), (13000, CUPTI), (14000, CUPTI)])
def test_it_is_the_newest_that_the_driver_takes(tmp_path: Path, driver: int, library: str) -> None:
    place(tmp_path / "named", OLDER)
    paths = {"RLSCOPE_CUPTI": place(tmp_path / "named"), "SIMCUDA_DRIVER_VERSION": str(driver)}
    assert found(record_script(tmp_path, WORK, **paths)) == f"{tmp_path}/named/{library}"


@pytest.mark.parametrize("wheel", ["nvidia/cuda_cupti/lib", "nvidia/cu13/lib"])
def test_the_wheel_of_the_traced_python_comes_before_a_named_folder(
    tmp_path: Path, wheel: str
) -> None:
    place(tmp_path / "site" / wheel)
    named = place(tmp_path / "named")
    paths = {"PYTHONPATH": str(tmp_path / "site"), "RLSCOPE_CUPTI": named}
    assert found(record_script(tmp_path, WORK, **paths)) == f"{tmp_path}/site/{wheel}/{CUPTI}"


@pytest.mark.parametrize(
    ("cudart", "cupti"),
    [("lib64", "lib64"), ("nvidia/cuda_runtime/lib", "nvidia/cuda_cupti/lib")],
)
def test_one_beside_the_programs_cudart_comes_before_that(
    tmp_path: Path, cudart: str, cupti: str
) -> None:
    runtime, beside = place(tmp_path / cudart, CUDART), place(tmp_path / cupti)
    named = place(tmp_path / "named")
    script = LOADED.format(library=f"{runtime}/{CUDART}")
    assert found(record_script(tmp_path, script, RLSCOPE_CUPTI=named)) == f"{beside}/{CUPTI}"


def test_one_that_the_program_has_loaded_comes_first(tmp_path: Path) -> None:
    loaded = f"{place(tmp_path / 'loaded')}/{CUPTI}"
    runtime = place(tmp_path / "lib64", CUDART)
    place(tmp_path / "lib64")
    script = f"ctypes.CDLL({runtime + '/' + CUDART!r})\n" + LOADED.format(library=loaded)
    assert found(record_script(tmp_path, script)) == loaded


# The program is linked with CUDA 13, so that no CUPTI of another major is asked.
@pytest.mark.parametrize("below", ["lib64", "lib", "extras/CUPTI/lib64"])
def test_a_toolkit_comes_last(tmp_path: Path, below: str) -> None:
    toolkit = tmp_path / "toolkit"
    folder = place(toolkit / below)
    program = [str(PROGRAMS / "training13"), "5", "1"]
    run = record_cuda(tmp_path, program, SIMCUPTI="absent", CUDA_HOME=str(toolkit))
    assert found(run) == f"{folder}/{CUPTI}"


# A machine with NVIDIA's toolkit has a CUPTI for us, which then says that there is no driver.
def test_without_any_the_program_runs_and_the_trace_says_so(tmp_path: Path) -> None:
    program = [str(PROGRAMS / "training13"), "5", "1"]
    run = record_cuda(tmp_path, program, SIMCUPTI="absent", CUDA_HOME=str(tmp_path))
    assert run.outcome.out == "done\n"
    (pid,) = run.pids()
    assert not run.calls(pid) and not run.work(pid)
    problem = json.loads(run.metadata(pid)["cuda"])["problem"]
    assert problem.startswith("CUDA is not recorded: ")
    assert "no CUPTI was found" in problem or "cannot connect to the driver" in problem
    (row,) = run.query("SELECT reason FROM absent WHERE relation = 'kernel'")
    assert problem in row["reason"]


@pytest.mark.parametrize("major", [10, 14])
def test_beside_a_cudart_of_an_unknown_cuda_none_is_taken(tmp_path: Path, major: int) -> None:
    runtime = shutil.copy(
        f"{place(tmp_path / 'runtime', CUDART)}/{CUDART}", tmp_path / f"libcudart.so.{major}.2"
    )
    named = place(tmp_path / "named")
    for name in (OLDER, "libcupti.so.11.8"):
        shutil.copy(f"{named}/{CUPTI}", f"{named}/{name}")
    script = LOADED.format(library=str(runtime))
    run = record_script(tmp_path, script, RLSCOPE_CUPTI=named)
    (pid,) = run.pids()
    assert not run.calls(pid)
    assert "no CUPTI was found" in json.loads(run.metadata(pid)["cuda"])["problem"]


def test_a_file_that_is_no_library_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / CUPTI).write_text("not a library\n")
    assert found(record_script(tmp_path, WORK, RLSCOPE_CUPTI=str(tmp_path / "broken"))) == CUPTI
