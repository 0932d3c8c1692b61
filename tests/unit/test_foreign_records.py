"""Intact records of a stranger may hold any text and any number: the trace is read all the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from rlscope import _trace
from rlscope.load import load

KERNEL, KERNEL_NAME = 1, 5


# ---- names of kernels --------------------------------------------------------------------------


def mangled_list(depth: int) -> str:
    """f(A<int>, A<that, that>, A<that, that>...): each parameter is twice as long as the last."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    references = ("S" + digits[at % 36] + "_" for at in range(depth))
    return "_Z1f1AIiE" + "".join(f"S_I{each}{each}E" for each in references)


READ = """
import sys
from rlscope.load import load
with load(sys.argv[1]) as trace:
    for name, function in sorted(trace.sql("SELECT name, function FROM kernel")):
        print(name == function, len(function))
"""


def write_kernels(root: Path, names: list[str]) -> None:
    (root / "rings").mkdir(parents=True)
    (root / "trace").mkdir()
    writer = _trace.Writer(
        str(root / "trace" / "box.77.5.0.rls"), os_pid=77, began_ns=1, start_time=5, main_thread=77
    )
    ids = [writer.name(KERNEL_NAME, name) for name in names]
    count = len(ids)
    writer.gpu(
        0,
        1,
        7,
        np.arange(1_000, 1_000 + 10 * count, 10),
        np.full(count, 5),
        np.full(count, KERNEL, dtype=np.uint32),
        np.array(ids, dtype=np.uint32),
        np.arange(count),
    )
    writer.end(9_000)
    writer.close()


def test_a_short_name_that_stands_for_gigabytes_stays_mangled(tmp_path: Path) -> None:
    bomb, other = mangled_list(30), mangled_list(30).replace("1A", "1B")
    write_kernels(tmp_path, [bomb, "_Z4copyPfi", mangled_list(6), other, "_ZN9TTTTTTTTT1SEv" * 2])
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    with load(tmp_path) as trace:
        functions = dict(trace.sql("SELECT name, function FROM kernel"))
    assert functions.pop("_Z4copyPfi") == "copy(float*, int)"
    assert len(functions.pop(mangled_list(6))) > 1_000
    assert all(name == function for name, function in functions.items())


def test_names_of_many_references_are_demangled(tmp_path: Path) -> None:
    names = [f"_ZN9SSSSSSSSS9TTTTTTTTT{len(str(at)) + 1}k{at}Ev" for at in range(300)]
    write_kernels(tmp_path, names)
    with load(tmp_path) as trace:
        functions = dict(trace.sql("SELECT name, function FROM kernel"))
    assert functions == {name: f"SSSSSSSSS::TTTTTTTTT::k{at}()" for at, name in enumerate(names)}
