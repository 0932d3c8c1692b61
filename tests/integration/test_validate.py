"""`rlscope validate` of programs whose cost is known: what the records say, and what is true."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from support.files.facts import assert_says
from support.process.known_costs import KNOWN, OWN_MEASURE, in_turns, own_measures, script
from support.process.traced_python import TracedPython, untraced_environment

# Keys that the facts of an operation lack.
OF_THE_WHOLE = {
    "method",
    "unknown_costs",
    "operations",
    "operations_left_out",
    "operations_absent",
}

WHOLE = """
import sys, time
import rlscope as rls
from rlscope.recorder import runtime

def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass

with rls.operation("work"):
    spin(400_000_000)
    if runtime.is_recording():
        spin(int(400_000_000 * float(sys.argv[1])))
"""


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def run(verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        in_turns(verb, *arguments),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=untraced_environment(),
    )


def facts(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    assert result.returncode == {"inside": 0, "outside": 1, "undecided": 3}[found["verdict"]]
    return found


# The CPU time of the loop grows by a part while it is recorded, whatever else the machine does: it
# spins until a clock of its own CPU time says stop. Operations are compared in wall time, which
# other programs stretch by some ten milliseconds at a time. So the sleep grows by more than that,
# to a hundred times its time.
SLEEPS = (
    OWN_MEASURE
    + """
import sys, time
import rlscope as rls
from rlscope.recorder import runtime

def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass

print("of the program", flush=True)
while True:  # until it is ended at an iteration
    rls.iteration()
    measure()
    for _ in range(100):
        with rls.operation("work"):
            pass
    spin(int(1_000_000 * (1 + float(sys.argv[1]) * runtime.is_recording())))
    with rls.operation("sleep"):
        time.sleep(0.02 if float(sys.argv[1]) and runtime.is_recording() else 0.0002)
"""
)


def assert_outside_if_quiet(operation: dict[str, Any]) -> None:
    """Recording multiplies its wall time by a hundred, except for what a wake-up takes. The control
    says whether other programs did the same without recording."""
    assert operation["verdict"] != "inside"
    low, high = operation["aa_interval"]
    if -10 < low < high < 10:
        assert operation["verdict"] == "outside"
        assert operation["bias_percent"] > 1000


def test_a_cost_that_no_probe_sees_is_found_and_gone_when_it_is_calibrated(
    traced: TracedPython, tmp_path: Path
) -> None:
    program = script(tmp_path, SLEEPS)
    arguments = ("--within", "5%", "--limit", "120", traced.python, program, "0.5")
    result = run("validate", "--json", *arguments)
    assert result.returncode == 1, result.stderr
    assert "of the program" in result.stderr.splitlines()
    found = facts(result)
    assert (found["verdict"], found["rounds"] >= 3) == ("outside", True)
    added = fmean(own_measures(tmp_path))
    assert found["inflation_percent"] == pytest.approx(added, rel=0.2)
    assert found["bias_percent"] == pytest.approx(added, rel=0.2)
    assert found["bias_interval"][0] < found["bias_percent"] < found["bias_interval"][1]
    assert found["aa_interval"][0] <= found["aa_interval"][1] < 10
    assert not found["claimed_interval"][0] <= 0 <= found["claimed_interval"][1]
    sleep = found["operations"]["sleep"]
    assert found["operations"].keys() <= {"sleep", "work"}
    assert sleep.keys() == found.keys() - OF_THE_WHOLE
    assert sleep["rounds"] == found["rounds"]
    assert sleep["inflation_percent"] > 30
    assert sleep["bias_percent"] > 30
    assert_outside_if_quiet(sleep)
    assert sleep["bias_interval"][0] < sleep["bias_percent"] < sleep["bias_interval"][1]
    assert sleep["aa_interval"][0] <= sleep["aa_interval"][1]
    assert not sleep["claimed_interval"][0] <= 0 <= sleep["claimed_interval"][1]
    assert found["operations_left_out"] == 2 - len(found["operations"])
    assert found["operations_absent"] is None

    assert run("calibrate", *arguments).returncode == 0
    tmp_path.joinpath("measured").unlink()
    found = facts(run("validate", "--json", *arguments))
    assert found["method"].startswith("`rlscope calibrate` (3 runs, ")
    added = fmean(own_measures(tmp_path))
    assert found["inflation_percent"] == pytest.approx(added, rel=0.2)
    assert found["bias_percent"] == pytest.approx(0, abs=added / 5)
    assert list(tmp_path.joinpath("rlscope_out").iterdir()) == []


def test_a_correction_that_is_right_ends_with_code_0(traced: TracedPython, tmp_path: Path) -> None:
    """Records take some thousandths of the loop."""
    text = SLEEPS.replace("range(100)", "range(20)")
    arguments = ("--limit", "120", traced.python, script(tmp_path, text), "0")
    result = run("validate", "--json", *arguments)
    assert result.returncode == 0, (result.stdout, result.stderr)
    found = facts(result)
    assert (found["verdict"], found["rounds"] >= 3) == ("inside", True)
    assert -3 <= found["bias_interval"][0] <= found["bias_interval"][1] <= 3


def test_rounds_that_disagree_end_with_code_3(traced: TracedPython, tmp_path: Path) -> None:
    """Recording adds nothing to every other run of the program, and half of its time to the others:
    two rounds do not tell which it is."""
    text = """
with open("starts", "a+") as file:
    file.write("x")
    share = 0.5 * (file.tell() % 2)
""" + SLEEPS.replace("float(sys.argv[1])", "share")
    arguments = ("--rounds", "2", "--limit", "60", traced.python, script(tmp_path, text))
    result = run("validate", "--json", *arguments)
    assert result.returncode == 3, (result.stdout, result.stderr)
    found = facts(result)
    assert (found["verdict"], found["rounds"]) == ("undecided", 2)
    assert found["bias_percent"] == pytest.approx(25, abs=10)
    assert found["bias_interval"][0] < -3 < 3 < found["bias_interval"][1]
    result = run("validate", *arguments)
    assert result.returncode == 3
    said = result.stdout.splitlines()
    assert set(said[:2]) == {"of the program"}
    assert any(line.startswith("recording adds  ") for line in said)
    assert any(
        re.match(r"sleep +\d.*\) +\d.*\) +-?\d.*\) +(outside|undecided)$", line) for line in said
    )
    assert_says(said[-1], "verdict: undecided", "--limit")


def test_a_program_without_iterations_runs_as_a_whole(traced: TracedPython, tmp_path: Path) -> None:
    program = script(tmp_path, WHOLE)
    result = run("validate", "--json", "--rounds", "4", traced.python, program, "0.5")
    assert "whole runs take turns" in result.stderr
    found = facts(result)
    assert found["inflation_percent"] > 20
    assert (found["rounds"], 0 <= found["rounds_held"] <= 4) == (4, True)
    assert found["aa_interval"] is not None
    assert found["operations"] == {}
    assert found["operations_absent"] == "the program counts no iterations"


PARTS = """
import threading, time
import rlscope as rls
from rlscope.recorder import runtime

def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass

def beside():
    with rls.operation("beside"):
        spin(100_000)

for number in range(10**6):
    rls.iteration()
    spin(1_000_000)
    with rls.operation("costly"):
        time.sleep(0.02 if runtime.is_recording() else 0.0002)
        with rls.operation("inner/one"):
            time.sleep(0.0002)
    with rls.operation("brief"):
        pass
    if number % 40 == 0:
        with rls.operation("now and then"):
            spin(500_000)
    thread = threading.Thread(target=beside)
    thread.start()
    thread.join()
"""


def test_each_operation_has_a_verdict_of_its_own(traced: TracedPython, tmp_path: Path) -> None:
    """Recording lets one take a hundred times as long, and not the one inside it."""
    arguments = ("--within", "15%", traced.python, script(tmp_path, PARTS))
    found = facts(run("validate", "--json", *arguments))
    operations = found["operations"]
    assert {"costly", r"costly/inner\/one"} <= operations.keys()
    assert "beside" not in operations and "brief" not in operations
    assert found["operations_left_out"] >= 2
    costly, inner = (operations[path] for path in ("costly", r"costly/inner\/one"))
    assert costly["inflation_percent"] > 30
    assert_outside_if_quiet(costly)
    assert inner["inflation_percent"] < costly["inflation_percent"] / 2


def test_automatic_operations_have_no_stopwatch(traced: TracedPython, tmp_path: Path) -> None:
    text = """
import rlscope as rls
from rlscope.recorder import runtime
for _ in range(10**6):
    rls.iteration()
    with rls.phase("training"):
        sum(range(20_000 + 10_000 * runtime.is_recording()))
"""
    program = script(tmp_path, text)
    result = run("validate", "--within", "90%", traced.python, program)
    (line,) = [each for each in result.stdout.splitlines() if each.startswith("operations: ")]
    assert line.startswith("operations: the program annotates none. ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise SystemExit(3)", "the program exited with code 3"),
        (
            "import rlscope as rls\nfor _ in range(30): rls.iteration()",
            "before it had 10 pairs of iterations: let it run longer, with a longer --limit",
        ),
        ("pass", "the program ran too briefly to tell what a record costs"),
    ],
)
def test_a_program_that_cannot_be_validated(
    traced: TracedPython, tmp_path: Path, text: str, said: str
) -> None:
    result = run("validate", "--json", traced.python, script(tmp_path, text))
    assert (result.returncode, result.stdout) == (1, "")
    assert said in result.stderr.splitlines()[-1]


def test_a_calibration_with_other_options_is_refused(traced: TracedPython, tmp_path: Path) -> None:
    """What is validated would not be what reports say."""
    arguments = ("--within", "50%", traced.python, script(tmp_path, KNOWN), "0.5", "200")
    assert run("calibrate", *arguments).returncode == 0
    result = run("validate", "--no-waits", *arguments)
    assert result.returncode == 1
    assert "is not used: it was made with other options" in result.stderr.splitlines()[-1]


def test_usage_and_programs_that_are_not_there(traced: TracedPython) -> None:
    result = run("validate")
    assert result.returncode == 2
    assert "give the command to run: rlscope validate" in result.stderr
    result = run("validate", "no-such-program")
    assert result.returncode == 127
    assert "no-such-program: command not found" in result.stderr
