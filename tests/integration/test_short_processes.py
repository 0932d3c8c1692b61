"""Programs that start many short processes: each is in the trace, and leaves no file of its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

from rlscope.opening import load

pytestmark = pytest.mark.usefixtures("clean_environment")

_SHELL = """
number=0
while [ $number -lt {programs} ]; do /bin/true; number=$((number + 1)); done
number=0
while [ $number -lt {interpreters} ]; do "{python}" -c pass; number=$((number + 1)); done
"""


def files_of_processes(directory: str) -> list[Path]:
    of_the_run = {"run.json", "processes.log", "machine.jsonl", "claim.1", "control"}
    files = (path for path in Path(directory).rglob("*") if path.is_file())
    return [path for path in files if path.name not in of_the_run]


@pytest.mark.parametrize(
    ("programs", "interpreters"), [(100, 10), pytest.param(1000, 100, marks=pytest.mark.slow)]
)
def test_short_processes_leave_no_files_of_nothing(
    traced: TracedPython, directory: str, programs: int, interpreters: int
) -> None:
    script = _SHELL.format(programs=programs, interpreters=interpreters, python=traced.python)
    result = traced.run("-o", directory, "--sample-seconds=0", "sh", "-c", script, timeout=600)
    assert result.returncode == 0, result.stderr
    assert files_of_processes(directory) == []
    with load(directory) as trace:
        names = Counter(row["short_name"] for row in trace.table("process").to_dicts())
        assert names["true"] == programs
        assert names["python"] == interpreters
        assert names["sh"] == 1
        assert not len(trace.table("loss"))
