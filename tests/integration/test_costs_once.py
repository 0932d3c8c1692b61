"""What recording takes once, of real runs: to begin, to find and patch functions, to end."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path

import pytest
from support.process.known_costs import rlscope, script
from support.process.traced_python import TracedPython

import rlscope as rls
from rlscope.analysis.interception import interception
from rlscope.calibration import calibrated_run

# Both processes import a library whose functions are patched. They write how long they lived, from
# the first line on.
PROGRAM = """
import time
begin = time.monotonic_ns()
import os, subprocess, sys
sys.path.insert(0, {folder!r})
import rlscope as rls
rls.layer("simulator", module="sample")
import sample
with rls.operation("work"):
    for _ in range(20_000):
        sample.noargs()
if "child" not in sys.argv:
    subprocess.run([sys.executable, __file__, "child"], check=True)
with open(f"lived-{{os.getpid()}}", "w") as file:
    print(time.monotonic_ns() - begin, file=file)
"""
PARTS = """
SELECT os_pid, exit_flush_ns, profiler_cpu_ns, value FROM process JOIN metadata USING (process_id)
WHERE key = 'rlscope.interception'
"""


@pytest.fixture
def run(
    traced: TracedPython, tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, int]:
    """The trace, and how many nanoseconds all of it took."""
    monkeypatch.chdir(tmp_path)
    text = PROGRAM.format(folder=str(Path(library).parent))
    begin_ns = time.monotonic_ns()
    result = traced.run("-o", "run", traced.python, script(tmp_path, text))
    assert result.returncode == 0, result.stderr
    return "run", time.monotonic_ns() - begin_ns


def test_each_process_says_what_it_took_to_begin_to_patch_and_to_end(run: tuple[str, int]) -> None:
    directory, whole_ns = run
    with rls.load(directory) as trace:
        rows = trace.sql(PARTS).to_dicts()
        (all_of_them,) = interception(trace).to_dicts()
    assert len(rows) == 2
    facts = {row["os_pid"]: json.loads(row["value"]) for row in rows}
    for row in rows:
        lived_ns = int(Path(f"lived-{row['os_pid']}").read_text())
        own = facts[row["os_pid"]]
        assert own["counts"]["patched"] > 0
        assert 0 < own["counts"]["scan_ns"] < lived_ns
        assert 0 < own["startup_ns"] < whole_ns
        assert 0 < row["exit_flush_ns"] < whole_ns
    assert all_of_them["processes"] == 2
    assert all_of_them["scan_ns"] == sum(each["counts"]["scan_ns"] for each in facts.values())
    assert all_of_them["startup_ns"] == sum(each["startup_ns"] for each in facts.values())


def test_they_are_told_and_are_no_cost_of_records(run: tuple[str, int]) -> None:
    """The page has their sums, and a calibration by whole runs takes them off."""
    directory, _ = run
    with rls.load(directory) as trace:
        (found,) = interception(trace).to_dicts()
        rows = trace.sql(PARTS).to_dicts()
    cpu_ns = sum(row["profiler_cpu_ns"] for row in rows)
    once_ns = found["scan_ns"] + found["startup_ns"] + cpu_ns
    assert calibrated_run._once_ns(directory) == once_ns
    made = subprocess.run(
        rlscope("report", directory, "-o", "page.html"), capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    page = Path("page.html").read_text()
    assert re.search(r"start-up [\d.]+\s.?s longer.* imports [\d.]+\s.?s longer", page)
    assert "until all records were written." in page
