"""A librlscope.so of another version is loaded, as when one environment's rls-prof starts another
environment's Python: the rlscope there does nothing, and says why when it is asked to record."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.process.recorder_programs import LIBRARY

ROOT = LIBRARY.parent.parent
THEIRS = 999
DATA = """
#include <stdint.h>
#include <stdlib.h>
/* Recording, without a ring: a caller that trusts these calls a function below. */
__attribute__((aligned(4096))) uint32_t rlscope_process[1024] = {1};
__thread uint64_t rlscope_self[8] __attribute__((tls_model("initial-exec")));
"""
USE = """
import asyncio, os, sys, threading
import rlscope as rls

@rls.operation("decorated")
def decorated():
    return 1

async def switch():
    with rls.operation("task"):
        await asyncio.sleep(0)

def work():
    rls.process("worker")
    with rls.phase("training"), rls.operation("work"):
        rls.iteration()
        rls.progress(1, 2)
        rls.metadata(seed=1)
    rls.layer("simulator", module="json")
    rls.set_operation("plain")
    rls.end_operation("plain")
    rls.start()
    rls.stop()
    return decorated()

thread = threading.Thread(target=work)
thread.start()
thread.join()
asyncio.run(switch())
if os.fork() == 0:
    os._exit(work())
assert os.waitstatus_to_exitcode(os.wait()[1]) == 1
for _ in range(2):
    with rls.profile("run"):
        print(work())
"""


def stub(folder: Path, leave_out: str = "") -> Path:
    """A library that takes the recorder's place; all but the question for its version aborts."""
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True
    ).stdout
    symbols = [line.split()[1:] for line in listing.splitlines()]
    functions = [name for kind, name in symbols if kind == "T" and name.startswith("rlscope_")]
    assert {"rlscope_abi_version", "rlscope_initialize", "rlscope_intern_name"} < {*functions}
    bodies = dict.fromkeys(functions, "abort();")
    bodies["rlscope_abi_version"] = f"return {THEIRS};"
    bodies.pop(leave_out, None)
    source = folder / "stub.c"
    source.write_text(DATA + "".join(f"int {name}(void) {{ {bodies[name]} }}\n" for name in bodies))
    library = folder / "preloaded.so"
    link = ["-shared", "-fPIC", "-Wl,-soname,librlscope.so"]
    subprocess.run(["gcc", "-O1", *link, "-o", library, source], check=True)
    return library


def run(folder: Path, library: Path, script: str) -> subprocess.CompletedProcess[str]:
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "LD_PRELOAD": str(library),
        "RLSCOPE_AUTO": "1",
    }
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("leave_out", "reason"),
    [
        ("", f"has version {THEIRS} of the interface, but rlscope needs "),
        ("rlscope_end_callback", "is of another version"),
    ],
)
@pytest.mark.parametrize("bootstrap", ["", "import rlscope.capture.bootstrap\n"])
def test_nothing_happens_and_one_line_says_why(
    tmp_path: Path, leave_out: str, reason: str, bootstrap: str
) -> None:
    result = run(tmp_path, stub(tmp_path, leave_out), bootstrap + USE)
    assert (result.returncode, result.stdout) == (0, "1\n1\n")
    (line,) = result.stderr.splitlines()
    assert line.startswith("rlscope: cannot record: the loaded librlscope.so ")
    assert reason in line
    assert line.endswith("start the program with the rls-prof of its own environment")
    assert not (tmp_path / "run").exists()


def test_the_stub_would_abort_a_recorder_that_trusts_it(tmp_path: Path) -> None:
    script = "import ctypes; ctypes.CDLL(None).rlscope_initialize()"
    assert run(tmp_path, stub(tmp_path), script).returncode == -6
