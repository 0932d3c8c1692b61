"""What Numba compiles, and C++ that a program builds for PyTorch: compilation, wherever it happens,
for as long as the program waits for it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from support.process.automatic_programs import ENVIRONMENT, names
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load

_PHYSICS = """
import numba, numpy, time

@numba.njit
def physics(state, action):
    for _ in range(1000):
        state = state * 0.999 + 0.001 * action
    return state

spent = []
class Physics(Env):
    def step(self, action):
        began = time.monotonic_ns()
        state = physics(numpy.zeros(4), 1.0)
        spent.append(time.monotonic_ns() - began)
        return state, 0.0, False, False, {}

env = Physics()
env.step(0)
env.step(0)
forward()
env.step(0)
print(*spent)
"""


def _found(directory: str, script: str) -> tuple[list[str], str]:
    """Names of the operations that follow each other, and what the program printed."""
    recorded = record(directory, ENVIRONMENT + script, timeout=300)
    found = (name for name in names(recorded) if name != "import")
    return [name for name, _ in itertools.groupby(found)], recorded.output


def _durations(directory: str, path: str) -> list[int]:
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT duration_ns FROM operation_instance JOIN operation USING (operation_id)"
            f" WHERE path = '{path}' ORDER BY start_ns"
        ).to_dicts()
    return [row["duration_ns"] for row in rows]


def test_the_step_that_compiles_its_physics_is_no_long_step(directory: str) -> None:
    need("numba")
    found, output = _found(directory, _PHYSICS)
    prepares = "compilation"  # the first decorator of all makes the compiler
    assert found == [
        *(prepares, "simulation", "compilation", "simulation", "inference", "simulation"),
    ]
    first, *_ = map(int, output.split())
    assert sum(_durations(directory, "compilation")[1:]) == pytest.approx(first, rel=0.1)


_DECORATORS = {
    "cfunc": "numba.cfunc('float64(float64)')(lambda x: x + 1.0)",
    "njit": "numba.njit('float64(float64)')(lambda x: x + 1.0)",
    "vectorize": "numba.vectorize(lambda x: x + 1.0)(1.0)",
    "guvectorize": "numba.guvectorize(['(float64[:], float64[:])'], '(n)->(n)')(double)",
    "object mode": "numba.jit(forceobj=True)(lambda x: [x])(1)",
}


@pytest.mark.parametrize("kind", _DECORATORS)
def test_whatever_numba_compiles_is_compilation(directory: str, kind: str) -> None:
    need("numba")
    double = "def double(x, y):\n    y[:] = x\n"
    script = (
        f"import numba, warnings\nwarnings.simplefilter('ignore')\n{double}{_DECORATORS[kind]}\n"
    )
    found, _ = _found(directory, script)
    assert found == ["compilation"]


def test_what_numba_cannot_compile_is_compilation_while_it_tries(directory: str) -> None:
    need("numba")
    script = """
import numba
try:
    numba.njit(lambda x: x.missing)(1)
except numba.TypingError:
    env.step(0)
"""
    found, _ = _found(directory, script)
    assert found == ["compilation", "simulation"]


def test_what_numba_loads_from_its_cache_is_compilation(directory: str) -> None:
    need("numba")
    folder = Path(directory).parent
    (folder / "cached.py").write_text(
        "import numba\n\n@numba.njit(cache=True)\ndef double(x):\n    return x + x\n"
    )
    script = f"""
import sys
sys.path.insert(0, {str(folder)!r})
import cached
cached.double(1)
print(sum(cached.double.stats.cache_hits.values()))
"""
    for hits in ("0", "1"):
        found, output = _found(f"{directory}-{hits}", script)
        assert output.strip() == hits
        assert found == ["compilation"]


_EXTENSION = """
import torch
from torch.utils import cpp_extension
env.reset()
options = {{"build_directory": {folder!r}, "is_python_module": False}}
cpp_extension.load("added", [{source!r}], **options)
env.step(0)
"""


def test_an_extension_of_pytorch_is_compiled(directory: str) -> None:
    need("torch")
    source = Path(directory).parent / "added.cpp"
    source.write_text('extern "C" int added(int x) { return x + 1; }\n')
    script = _EXTENSION.format(source=str(source), folder=str(source.parent))
    found, _ = _found(directory, script)
    assert found == ["simulation", "compilation", "simulation"]
