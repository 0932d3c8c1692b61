"""Programs on the simulated CUDA: the truth file they leave, and what CUPTI gave a client."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

SIMCUDA = Path(__file__).parents[2] / "simcuda"
RUN = SIMCUDA / "run"
PROGRAMS = SIMCUDA.parent.parent / "build" / "simcuda" / "programs"

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """The lines of a JSON-lines file, each of which must be whole but one that a kill cut off."""
    if not path.exists():
        return []
    whole, _, _ = path.read_text().rpartition("\n")
    rows: list[Row] = json.loads(f"[{whole.replace(chr(10), ',')}]")
    return rows


def having(rows: list[Row], **fields: Any) -> list[Row]:
    """The rows that have all of these values."""
    for key, value in fields.items():
        rows = [row for row in rows if row.get(key) == value]
    return rows


@dataclass
class Outcome:
    """A finished program."""

    code: int
    out: str
    err: str
    truth: list[Row] = field(default_factory=list)
    client: list[Row] = field(default_factory=list)

    def calls(self, **fields: Any) -> list[Row]:
        return having(self.truth, type="api", **fields)

    def operations(self, **fields: Any) -> list[Row]:
        return having(self.truth, type="operation", **fields)

    def records(self, **fields: Any) -> list[Row]:
        return having(self.client, event="record", **fields)

    def callbacks(self, **fields: Any) -> list[Row]:
        return having(self.client, event="callback", **fields)

    def status(self, function: str) -> int:
        """What the client's last call of a CUPTI function answered."""
        answer: int = having(self.client, event="status", function=function)[-1]["status"]
        return answer


@cache
def built() -> None:
    """The simulated CUDA is built: a minute on two cores, where no test has yet."""
    subprocess.run([str(RUN), "true"], check=True, timeout=900)


def run_simulated(
    folder: Path,
    command: list[str],
    *options: str,
    client: bool = False,
    truth: bool = True,
    seconds: float = 300,
    **environment: str,
) -> Outcome:
    """Runs a command under tests/simcuda/run, for so long at most.

    Args:
        client: injects the tests' CUPTI client.
        truth: writes the truth file, which takes microseconds of each call.
    """
    built()
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SIMCU", "CLIENT_", "CUDA_INJECTION", "LD_"))
    }
    file, output = folder / "truth.jsonl", folder / "client.jsonl"
    for old in (file, output):
        old.unlink(missing_ok=True)
    if client:
        environment |= {
            "CUDA_INJECTION64_PATH": str(PROGRAMS / "cupti_client.so"),
            "CLIENT_OUTPUT": str(output),
        }
    done = subprocess.run(
        [str(RUN), *(["--truth", str(file)] if truth else []), *options, *command],
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    return Outcome(done.returncode, done.stdout, done.stderr, read_rows(file), read_rows(output))


def run_python(folder: Path, script: str, *options: str, **settings: Any) -> Outcome:
    """Runs a Python script that may use `cuda` (the driver by ctypes) and `check`."""
    file = folder / "script.py"
    file.write_text(PREAMBLE + script)
    return run_simulated(folder, [sys.executable, str(file)], *options, **settings)


DECLARATIONS = """\
import ctypes, os, sys, threading, time
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

cuda = ctypes.CDLL("libcuda.so.1")

def check(status):
    assert status == 0, status

def allocate(size):
    pointer = c_uint64()
    check(cuda.cuMemAlloc_v2(byref(pointer), c_size_t(size)))
    return pointer

def stream(flags=1):
    made = c_void_p()
    check(cuda.cuStreamCreate(byref(made), flags))
    return made

def event(flags=0):
    made = c_void_p()
    check(cuda.cuEventCreate(byref(made), flags))
    return made

def kernel(name):
    module, function = c_void_p(), c_void_p()
    check(cuda.cuModuleLoadData(byref(module), b"image"))
    check(cuda.cuModuleGetFunction(byref(function), module, name.encode()))
    return function

def launch(function, on=None, argument=0, grid=(1, 1, 1), block=(32, 1, 1), shared=0):
    value = c_uint64(argument)
    arguments = (c_void_p * 1)(ctypes.addressof(value))
    check(cuda.cuLaunchKernel(function, *grid, *block, shared, on, arguments, None))

def primary(device=0):
    context = c_void_p()
    check(cuda.cuDevicePrimaryCtxRetain(byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    return context
"""
PREAMBLE = DECLARATIONS + "check(cuda.cuInit(0))\nprimary()\n"
