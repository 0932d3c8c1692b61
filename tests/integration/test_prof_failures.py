"""What a program's exception leaves in its trace, and that the program notices nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.analysis import run_facts
from rlscope.capture.failure import METADATA
from rlscope.report import catalogue, headline

pytestmark = pytest.mark.usefixtures("clean_environment")

_LIBRARY = """
import json
def parse():
    json.loads("{")
"""
_CASES = {
    "raised": ('x = 1\nraise ValueError("first\\nsecond")', ("ValueError", "first", "train.py", 2)),
    "in a library": (
        "import library\nlibrary.parse()",
        ("JSONDecodeError", "Expecting property name", "library.py", 4),
    ),
    "hook of its own": (
        "import sys\nsys.excepthook = lambda *_: print('mine')\n1 / 0",
        ("ZeroDivisionError", "division by zero", "train.py", 3),
    ),
    "no text": (
        "class Bad(Exception):\n    def __str__(self):\n        raise TypeError\nraise Bad",
        ("Bad", "", "train.py", 4),
    ),
}


def _alone(traced: TracedPython, script: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([traced.python, str(script)], capture_output=True, text=True)


def _ending(directory: str) -> dict[str, Any]:
    with rls.load(directory) as trace:
        (row,) = run_facts.ending(trace).to_dicts()
    assert row.pop("framework") is False
    return row


@pytest.mark.parametrize("name", _CASES)
def test_an_exception_that_nobody_caught_is_in_the_trace(
    traced: TracedPython, directory: str, tmp_path: Path, name: str
) -> None:
    program, (kind, message, file, line) = _CASES[name]
    script = tmp_path / "train.py"
    script.write_text(program)
    (tmp_path / "library.py").write_text(_LIBRARY)
    alone = _alone(traced, script)
    done = traced.run("-o", directory, traced.python, str(script))
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout)
    assert alone.stderr in done.stderr
    found = _ending(directory)
    assert found["message"].startswith(message)
    assert "second" not in found["message"]
    assert found | {"message": ""} == {
        "exit": 1,
        "exception": kind,
        "message": "",
        "file": str(tmp_path / file),
        "line": line,
    }


@pytest.mark.parametrize(
    ("program", "code"),
    [("import sys; sys.exit(3)", 3), ("try:\n    1 / 0\nexcept ArithmeticError:\n    pass", 0)],
)
def test_a_program_that_ends_by_itself_leaves_no_exception(
    traced: TracedPython, directory: str, program: str, code: int
) -> None:
    traced.run("-o", directory, traced.python, "-c", program)
    found = _ending(directory)
    assert found == dict.fromkeys(found) | {"exit": code}


def test_whatever_a_program_stores_in_the_place_of_its_exception_ends_nothing(
    traced: TracedPython, directory: str
) -> None:
    program = "import sys; sys.last_type = 3; print('done')"
    done = traced.run("-o", directory, traced.python, "-c", program)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "Traceback" not in done.stderr
    with rls.load(directory) as trace:
        assert METADATA not in trace.sql("SELECT key FROM metadata")["key"]


@pytest.mark.parametrize(
    ("program", "state", "code"),
    [
        ("pass", "complete", 0),
        ("raise SystemExit(3)", "failed", 3),
        ("1 / 0", "failed", 1),
        ("raise KeyboardInterrupt", "interrupted", 1),
    ],
)
def test_a_list_of_runs_says_how_each_program_ended(
    traced: TracedPython, directory: str, program: str, state: str, code: int
) -> None:
    traced.run("-o", directory, traced.python, "-c", program)
    (run,) = catalogue.describe([directory])
    assert (run.state, run.exit) == (state, code)
    with rls.load(directory) as trace:
        line = headline.read(trace).run
    assert ("interrupted" in line) is (state == "interrupted")
    assert ("failed with exit code" in line) is (state == "failed")
