"""Functions that real compilers compile, and the lines of the program that ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load

# TensorFlow prints what the CPU can do without these.
_QUIET = (
    "import os\nos.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'\n"
    "os.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'\n"
)
# Each compiles `update` twice, for two kinds of arguments, from its last line.
_PROGRAMS = {
    "jax": (
        "JAX",
        "@jax.jit\ndef update(x):\n    return x * 2\n"
        "values = jax.numpy.ones(2), jax.numpy.ones(3)\nfor x in values:\n    update(x)\n",
    ),
    "numba": (
        "Numba",
        "@numba.njit\ndef update(x):\n    return x * 2\nfor x in (1, 1.5):\n    update(x)\n",
    ),
    "tensorflow": (
        "TensorFlow",
        "@tensorflow.function\ndef update(x):\n    return x * 2\n"
        "for n in (2, 3):\n    update(tensorflow.ones(n))\n",
    ),
    "torch": (
        "torch.compile",
        "def update(x):\n    return x * 2\n"
        "update = torch.compile(update, backend='eager', dynamic=False)\n"
        "for n in (2, 3):\n    update(torch.ones(n))\n",
    ),
}


@pytest.mark.parametrize("library", _PROGRAMS)
def test_each_function_has_its_count_and_the_line_that_asked(directory: str, library: str) -> None:
    need(library)
    compiler, program = _PROGRAMS[library]
    script = f"{_QUIET}import {library}\nimport rlscope.auto\nrlscope.auto.begin()\n{program}"
    recorded = record(directory, script, timeout=300)
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT compiler, line, count, total_ns FROM compilation WHERE function = 'update'"
        )
        ((found, line, count, total_ns),) = rows
    assert (found, count) == (compiler, 2), recorded.output
    assert line == len(script.splitlines())
    assert total_ns > 0


_TRITON = """
import sys
sys.path.insert(0, sys.argv[1])
import rlscope.auto
rlscope.auto.begin()
import triton.compiler

class Kernel:
    pass

def add(x):
    pass

source = Kernel()
source.fn = Kernel()
source.fn.fn = add
triton.compiler.compile(source)
"""


def test_triton_says_which_kernel_it_compiles(directory: str, tmp_path: Path) -> None:
    """A package with Triton's function stands for the library, which needs a GPU."""
    package = tmp_path / "lib" / "triton" / "compiler"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").write_text("def compile(src, target=None):\n    return 1\n")
    script = _TRITON.replace("sys.argv[1]", repr(str(tmp_path / "lib")))
    record(directory, script)
    with load(directory) as trace:
        rows = list(trace.sql("SELECT compiler, function, count FROM compilation"))
    assert rows == [("Triton", "add", 1)]
