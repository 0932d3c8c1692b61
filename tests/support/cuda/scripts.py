"""Python scripts that use CUDA by its driver, recorded on the simulated one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.cuda.runs import CudaRun, check_processes, record_cuda
from support.cuda.simcuda_runs import DECLARATIONS

WORK = """
def begin():
    check(cuda.cuInit(0))
    primary()

def work(rounds=20):
    function, own, memory = kernel("policy_step"), stream(), allocate(1 << 12)
    host = (ctypes.c_char * (1 << 12))()
    for i in range(rounds):
        launch(function, on=own, argument=i)
        check(cuda.cuMemcpyDtoHAsync_v2(host, memory, c_size_t(512), own))
    check(cuda.cuStreamSynchronize(own))
"""


def record_script(
    folder: Path, script: str, *, code: int = 0, prof: tuple[str, ...] = (), **environment: str
) -> CudaRun:
    """Runs a script that may use begin(), work() and what DECLARATIONS has, under rls-prof."""
    file = folder / "script.py"
    file.write_text(DECLARATIONS + WORK + script)
    return record_cuda(folder, [sys.executable, str(file)], prof=prof, code=code, **environment)


def check_all(run: CudaRun, processes: int) -> None:
    """Every process of the truth has its calls and its work, and nothing was lost."""
    check_processes(run, processes)
    assert not run.query("SELECT * FROM loss")


def compile_library(folder: Path, name: str, source: str) -> Path:
    """A shared object from a few lines of C."""
    file, library = folder / f"{name}.c", folder / f"{name}.so"
    file.write_text(source)
    command = ["gcc", "-shared", "-fPIC", str(file), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True)
    return library
