"""Releases of the libraries that a run imported: noted as it ends, and compared by rlscope diff."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.process.command_line import rlscope
from support.process.traced_python import TracedPython

import rlscope as rls

pytestmark = pytest.mark.usefixtures("clean_environment")

# A library, one that has no release, one that is no module, and one that answers no question.
_PROGRAM = """
import json, os, signal, sys, types
import known, silent

class Lazy(types.ModuleType):
    def __getattr__(self, name):
        raise AssertionError(name)

sys.modules["lazy"] = Lazy("lazy")
sys.modules["odd"] = object()
known.part = types.ModuleType("known.part")
sys.modules["known.part"] = known.part
known.part.__version__ = "9"
import rlscope as rls
for _ in range(20):
    rls.iteration()
if sys.argv[1:]:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _record(traced: TracedPython, folder: Path, name: str, release: str, *arguments: str) -> Path:
    script = folder / "train.py"
    script.write_text(_PROGRAM)
    # Python takes compiled code of the same second and length for that of this file.
    (folder / "known.py").write_text(f"__version__ = {release!r}\n")
    (folder / "silent.py").write_text("")
    directory = folder / name
    done = traced.run("-o", str(directory), traced.python, str(script), *arguments)
    assert done.returncode == (-9 if arguments else 0), done.stderr
    return directory


def _differences(base: Path, new: Path) -> dict[str, tuple[list[str], list[str]]]:
    done = rlscope("diff", base, new, "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["environment"]
    return {row["kind"]: (row["base"], row["new"]) for row in rows}


def test_releases_of_libraries_that_differ_are_said(traced: TracedPython, tmp_path: Path) -> None:
    first = _record(traced, tmp_path, "first", "1.0")
    with rls.load(first) as trace:
        ((note,),) = trace.sql("SELECT value FROM metadata WHERE key = 'rlscope.releases'")
    assert ["known", "1.0"] in json.loads(note)
    assert not {"silent", "lazy", "odd", "known.part", "json"} & {
        row[0] for row in json.loads(note)
    }
    second = _record(traced, tmp_path, "second", "2.0.1")
    assert _differences(first, second) == {"release of known": (["1.0"], ["2.0.1"])}
    killed = _record(traced, tmp_path, "killed", "2.0.1", "killed")
    assert "release of known" not in _differences(first, killed)
