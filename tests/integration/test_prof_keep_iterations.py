"""--keep-iterations: all single records of chosen iterations of a run that is rolled up."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.files.exact_sums import check_directory
from support.process.command_line import rlscope
from support.process.traced_python import TracedPython

from rlscope.opening import load
from rlscope.rundir import kept_iterations

pytestmark = pytest.mark.usefixtures("without_waits")

# Each iteration has operations. The program goes on when what it waits for is there, however slow
# the machine is; so it knows which iteration runs while something is kept or rolled up.
_PRELUDE = """
import os, sys, time
import rlscope as rls

directory = os.environ["RLSCOPE_DIR"]

def operations(count):
    for _ in range(count):
        with rls.operation("outer"):
            with rls.operation("inner"):
                pass

def iterations(count, each=1000):
    for _ in range(count):
        rls.iteration()
        operations(each)

def until(done):
    deadline = time.monotonic() + 120
    while not done() and time.monotonic() < deadline:
        with rls.operation("wait"):
            time.sleep(0.02)
    assert done()

def kept(*folders):
    until(lambda: all(os.path.exists(os.path.join(directory, each)) for each in folders))

def files():
    trace = os.path.join(directory, "trace")
    return {int(name.split(".")[3]): os.path.join(trace, name) for name in os.listdir(trace)}

def edge():  # which file has the state of the sweep, which is made anew by each roll
    return [os.stat(path).st_ino for number, path in files().items() if number > 10**6]

def size():
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                state = os.stat(os.path.join(folder, name))
            except FileNotFoundError:  # it was rolled up
                continue
            found[state.st_ino] = state.st_size
    return sum(found.values())

def roll_follows():
    before = edge()
    until(lambda: edge() not in ([], before))

def next_files():
    last = max([number for number in files() if number < 10**6], default=0)
    until(lambda: last + 2 in files())
"""
_KEPT = ("--rollup", "0.01")
_OPERATIONS = 1000  # in an iteration


def run(
    traced: TracedPython, directory: str, program: str, wanted: str, *options: str
) -> subprocess.CompletedProcess[str]:
    command = [traced.python, "-c", _PRELUDE + program]
    return traced.run(
        *_KEPT, "--keep-iterations", wanted, *options, "-o", directory, *command, timeout=300
    )


def counted(directory: Path | str, relation: str, first: int, last: int) -> list[int]:
    """Rows of the operation `outer` in each of these iterations."""
    with load(directory) as trace:
        rows = trace.sql(
            f"SELECT iteration, count(*) FROM {relation} JOIN operation USING (operation_id)"
            f" WHERE path = 'outer' AND iteration BETWEEN {first} AND {last}"
            " GROUP BY iteration ORDER BY iteration"
        )
        found = dict(iter(rows))
    return [found.get(number, 0) for number in range(first, last + 1)]


def check_kept(directory: str, first: int, last: int, *, times: int = 1) -> None:
    """All records of these iterations are there, and sums of all before."""
    name = f"iterations-{first}-{last}" if first != last else f"iterations-{first}"
    folder = Path(directory, name)
    check_directory(folder)
    wanted = [_OPERATIONS * times] * (last - first + 1)
    assert counted(folder, "operation_instance", first, last) == wanted
    assert counted(folder, "event", first, last) == wanted
    with load(folder) as trace:
        ((instances,),) = trace.sql("SELECT sum(count) FROM breakdown WHERE operation = 'outer'")
        assert instances is not None


def folders(directory: str) -> list[str]:
    return sorted(path.name for path in Path(directory).iterdir() if "iterations" in path.name)


_TWO_RANGES = """
iterations(60)
kept("iterations-20-25", "iterations-40")
iterations(60)
roll_follows()
"""


def test_each_range_is_a_trace_with_its_records(traced: TracedPython, directory: str) -> None:
    result = run(traced, directory, _TWO_RANGES, "20-25,40")
    assert result.returncode == 0, result.stderr
    assert folders(directory) == ["iterations-20-25", "iterations-40"]
    check_kept(directory, 20, 25)
    check_kept(directory, 40, 40)
    with load(directory) as trace:
        (reason,) = {
            reason for relation, _, reason in trace.sql("FROM absent") if relation == "event"
        }
    assert "rows of iterations 20 to 25 are in iterations-20-25" in reason
    assert "rows of iteration 40 are in iterations-40" in reason
    assert f"all records of iterations 20 to 25: {directory}/iterations-20-25\n" in result.stderr
    run_json = json.loads(Path(directory, "iterations-40", "run.json").read_text())
    assert run_json["name"] == "run, iteration 40"


_SPINS = """
def spin():
    end = time.perf_counter() + 0.02
    while time.perf_counter() < end:
        pass

def spins(count):
    for _ in range(count):
        rls.iteration()
        with rls.operation("work"):
            spin()

spins(60)
kept("iterations-3-50")
def late():
    spins(60)  # its reading is of the other range
late()
"""


def test_each_range_has_the_text_of_its_lines(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(_PRELUDE + _SPINS)
    options = (*_KEPT, "--keep-iterations", "3-50,90-500", "-o", directory)
    result = traced.run(*options, traced.python, str(script), timeout=300)
    assert result.returncode == 0, result.stderr
    for name in ("iterations-3-50", "iterations-90-500"):
        with load(Path(directory, name)) as trace:
            own = "SELECT DISTINCT line FROM source_line WHERE is_own AND stage = 'loop'"
            lines = [line for (line,) in trace.sql(own)]
            texts = dict(trace.sql("SELECT line, text FROM source_text"))
        assert lines
        written = script.read_text().splitlines()
        assert [texts.get(line) for line in lines] == [written[line - 1] for line in lines]


def test_info_says_where_they_are(traced: TracedPython, directory: str) -> None:
    run(traced, directory, 'iterations(30)\nkept("iterations-3")\n', "3")
    said = rlscope("info", directory).stdout
    assert f"iteration 3  {directory}/iterations-3\n" in said
    kept = f"{directory}/iterations-3"
    for verb in (["summary"], ["info"], ["report"], ["query"]):
        statement = ["SELECT 1"] if verb == ["query"] else []
        assert rlscope(*verb, kept, *statement).returncode == 0


_LONG = """
iterations(60)
next_files()
iterations(10)
roll_follows()
for _ in range(6):  # files are those of a quarter of what is kept
    iterations(5)
    next_files()
iterations(60)
kept("iterations-65-94")
roll_follows()
"""


def test_a_range_that_is_longer_than_what_is_kept(traced: TracedPython, directory: str) -> None:
    result = run(traced, directory, _LONG, "65-94")
    assert result.returncode == 0, result.stderr
    check_kept(directory, 65, 94)
    assert counted(directory, "event", 60, 70) == [0] * 11


def test_a_range_that_runs_when_the_program_ends(traced: TracedPython, directory: str) -> None:
    program = "iterations(60)\nnext_files()\niterations(5)\nroll_follows()\niterations(20)\n"
    result = run(traced, directory, program, "61-100")
    assert result.returncode == 0, result.stderr
    assert "rls-prof: iterations 61 to 100: kept up to 84, " in result.stderr
    folder = Path(directory, "iterations-61-100")
    assert counted(folder, "event", 61, 84) == [_OPERATIONS] * 24


def test_iterations_that_never_come(traced: TracedPython, directory: str) -> None:
    result = run(traced, directory, "iterations(1200, 1)\n", "5000,1300-1400")
    assert result.returncode == 0, result.stderr
    assert "rls-prof: iteration 5000 never began: the run had only 1,200\n" in result.stderr
    assert (
        "rls-prof: iterations 1300 to 1400 never began: the run had only 1,200\n" in result.stderr
    )
    assert folders(directory) == []


@pytest.mark.parametrize("program", ["pass", "with rls.operation('x'): pass"])
def test_a_run_without_iterations(traced: TracedPython, directory: str, program: str) -> None:
    result = run(traced, directory, program, "5", "--no-auto")
    assert result.returncode == 0, result.stderr
    assert "rls-prof: iteration 5 never began: the run had none\n" in result.stderr


# The child forks before the first iteration, begins its own later, and ends the range last.
_FORK = """
child = os.fork()
iterations(12)
if child == 0:
    time.sleep(1.5)
    iterations(40)
    kept("iterations-10-15")
    os._exit(0)
iterations(30)
kept("iterations-10-15")
assert os.waitpid(child, 0)[1] == 0
"""


def test_of_several_processes_all_that_began_have_ended_the_range(
    traced: TracedPython, directory: str
) -> None:
    result = run(traced, directory, _FORK, "10-15")
    assert result.returncode == 0, result.stderr
    check_kept(directory, 10, 15, times=2)


def test_a_program_that_is_killed(traced: TracedPython, directory: str) -> None:
    program = """
iterations(60)
next_files()
iterations(5)
roll_follows()
os.kill(os.getpid(), 9)
"""
    result = run(traced, directory, program, "3-5,61-100")
    assert result.returncode == -9, result.stderr
    check_kept(directory, 3, 5)
    assert counted(Path(directory, "iterations-61-100"), "event", 61, 64) == [_OPERATIONS] * 4


def test_rls_prof_is_killed(traced: TracedPython, directory: str) -> None:
    """What was kept stays; of the range that runs the records are in the run's own trace."""
    program = """
iterations(20)
kept("iterations-3-5")
os.kill(os.getppid(), 9)
iterations(20)
"""
    result = run(traced, directory, program, "3-5,15-100")
    assert result.returncode == -9
    wait_until_it_is_over(directory)
    check_kept(directory, 3, 5)
    assert counted(directory, "event", 15, 39) == [_OPERATIONS] * 25
    again = traced.run("--force", "-o", directory, "true")
    assert again.returncode == 0, again.stderr
    assert folders(directory) == []


def wait_until_it_is_over(directory: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with load(directory) as trace:
            states = [ended for (ended,) in trace.sql("SELECT ended FROM process")]
        if "running" not in states:
            return
        time.sleep(0.05)
    raise AssertionError("the program still runs")


def test_force_removes_what_was_kept_and_nothing_else(traced: TracedPython, directory: str) -> None:
    run(traced, directory, 'iterations(30)\nkept("iterations-3", "iterations-5-6")\n', "3,5-6")
    assert rlscope("report", f"{directory}/iterations-3").returncode == 0
    Path(directory, "iterations-5-6", "notes.txt").write_text("mine")
    another = Path(directory, "iterations-7")  # a run of its own, below
    assert traced.run("-o", str(another), "true").returncode == 0
    unfinished = Path(directory, "iterations-8.tmp")
    (unfinished / "trace").mkdir(parents=True)
    kept_iterations.describe(directory, unfinished.name, kept_iterations.IterationRange(8, 8))
    result = traced.run("--force", "-o", directory, "true")
    assert result.returncode == 0, result.stderr
    assert folders(directory) == ["iterations-5-6", "iterations-7"]
    left = [path.name for path in Path(directory, "iterations-5-6").iterdir()]
    assert left == ["notes.txt"]
    assert (another / "run.json").exists()


def test_a_folder_that_is_there_already(traced: TracedPython, directory: str) -> None:
    Path(directory, "iterations-3").mkdir(parents=True)
    result = run(traced, directory, "print('ran')", "3")
    assert (result.returncode, result.stdout) == (1, "")
    line = f"rls-prof: iterations-3 is there already, choose another: {directory}\n"
    assert result.stderr == line


def test_it_needs_rollup(traced: TracedPython, directory: str) -> None:
    result = traced.run("--keep-iterations", "3", "-o", directory, "true")
    assert result.returncode == 1
    assert result.stderr == (
        "rls-prof: --keep-iterations needs --rollup MINUTES: without it the records of all "
        "iterations are kept\n"
    )
    assert not Path(directory).exists()


# Operations come in small parts, so that the rings stay small, too.
_MUCH = """
iterations(5)
for _ in range({count}):  # 100 to 150 KB each
    rls.iteration()
    for _ in range(10):
        operations(2000)
        time.sleep(0.003)
    until(lambda: size() < {most} << 20)
"""


def test_no_room_for_what_is_kept(traced: TracedPython, directory: str) -> None:
    """The run goes on and nothing of it is cut."""
    result = run(traced, directory, _MUCH.format(count=240, most=22), "3-240", "--max-size", "24M")
    assert result.returncode == 0, result.stderr
    lines = re.findall("rls-prof: (cannot keep.*)\n", result.stderr)
    assert lines == ["cannot keep iterations 3 to 240: --max-size leaves no room"]
    assert folders(directory) == []
    with load(directory) as trace:
        assert list(trace.sql("FROM loss WHERE kind = 'cut'")) == []
        ((count,),) = trace.sql("SELECT count(*) FROM iteration")
    assert count == 245


def test_what_is_kept_counts(traced: TracedPython, directory: str) -> None:
    """Ranges that fit one by one do not fit together."""
    wanted = ",".join(f"{first}-{first + 3}" for first in range(5, 165, 6))
    result = run(traced, directory, _MUCH.format(count=160, most=14), wanted, "--max-size", "16M")
    assert result.returncode == 0, result.stderr
    files = [path for path in Path(directory).rglob("*") if path.is_file()]
    sizes = {path.stat().st_ino: path.stat().st_size for path in files}
    assert sum(sizes.values()) <= 16 << 20
    assert "--max-size leaves no room" in result.stderr
    assert "iterations-5-8" in folders(directory)


def test_a_summary_while_it_runs(traced: TracedPython, directory: str) -> None:
    program = """
iterations(20)
kept("iterations-3-5")
print("kept", flush=True)
sys.stdin.read()
"""
    command = traced.command(
        *_KEPT,
        "--keep-iterations",
        "3-5,15-100",
        "-o",
        directory,
        traced.python,
        "-c",
        _PRELUDE + program,
    )
    with started(command) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "kept\n"
        check_kept(directory, 3, 5)
        for folder in (directory, f"{directory}/iterations-3-5"):
            assert rlscope("summary", folder).returncode == 0
        running.communicate("")
    assert running.returncode == 0


@contextlib.contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    try:
        yield running
    finally:
        if running.poll() is None:
            os.kill(running.pid, signal.SIGKILL)
        running.communicate()
