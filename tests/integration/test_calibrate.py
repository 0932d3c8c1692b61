"""`rlscope calibrate` of programs whose cost is known, and of those that cannot be calibrated."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.process import command_line
from support.process.known_costs import (
    KNOWN,
    check_counted,
    counted_loop,
    in_turns,
    own_measures,
    script,
)
from support.process.traced_python import TracedPython, untraced_environment

from rlscope.calibration import calibrated_run
from rlscope.calibration.runs_in_turns import TooShort
from rlscope.costs.calibrations import FILE, Run, Store, read_subject
from rlscope.opening import load
from rlscope.rundir import turns_file

CORRECTED = "SELECT operation, layer, overhead_ns, corrected_ns FROM breakdown ORDER BY ALL"
# Says that the program ended as it would have.
TIDY = """
import atexit
atexit.register(print, "exit functions ran")
"""


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def calibrate(
    traced: TracedPython, *arguments: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        in_turns("calibrate", *arguments),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**untraced_environment(), **environ},
    )


def shares(said: str) -> Iterator[float]:
    """The shares of single runs, in percent."""
    for found in re.findall(r"pairs of iterations: recording adds (-?[\d.]+) % to", said):
        yield float(found)


def test_the_cost_of_a_program_is_found_kept_and_taken_out(
    traced: TracedPython, tmp_path: Path
) -> None:
    program = script(tmp_path, TIDY + KNOWN)
    result = calibrate(traced, "--within", "20%", traced.python, program, "0.5", "100000")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "exit functions ran\n" * 3
    assert [*shares(result.stderr)] == pytest.approx(own_measures(tmp_path), abs=10)
    # No record is as dear as what the program adds to its iterations by itself.
    parts = re.search(r"single records add up to ([\d.]+) % \(", result.stderr)
    assert parts is not None
    assert 0 < float(parts[1]) < 25
    assert list(tmp_path.joinpath("rlscope_out").iterdir()) == []

    run = traced.run("-o", "run", traced.python, program, "0.5", "100")
    assert run.returncode == 0, run.stderr
    with load("run") as trace:  # before any verb has opened it
        (row,) = trace.sql(
            "SELECT CAST(SUM(overhead_ns) AS DOUBLE) AS ns FROM overhead WHERE kind <> 'clamped'"
        ).to_dicts()
        costs = trace.sql("SELECT * FROM calibration").to_dicts()
        corrected = trace.sql(CORRECTED).to_dicts()
    shutil.rmtree("run/tables")
    Path("run", FILE).unlink()
    summary = command_line.rlscope("summary", "run").stdout
    said = re.search(
        r"recording took ([\d.]+) % of the training loop \(", " ".join(summary.split())
    )
    assert said is not None, summary
    assert "from `rlscope calibrate` (3 runs, " in " ".join(summary.split())
    with load("run") as trace:  # as the verb left it
        assert trace.sql(CORRECTED).to_dicts() == corrected
    # 100 iterations, to each of which recording added 0.5 ms.
    assert row["ns"] == pytest.approx(50e6, rel=0.3)
    measured = [each for each in costs if each["kind"] != "ring wait"]
    assert all("rlscope calibrate" in each["method"] for each in measured)
    assert all(each["low_ns"] <= each["mean_ns"] <= each["high_ns"] for each in costs)


def test_a_calibration_goes_on_where_it_ended(traced: TracedPython, tmp_path: Path) -> None:
    """Two of the three runs that are needed are there; `--again` forgets them."""
    program = script(tmp_path, KNOWN)
    arguments = ("--within", "50%", traced.python, program, "0.5", "200")
    assert calibrate(traced, *arguments).returncode == 0
    run = traced.run("-o", "run", traced.python, program, "0.5", "1")
    assert run.returncode == 0, run.stderr
    subject = read_subject("run")
    assert subject is not None
    store = Store(program)
    runs = store.runs(subject)
    assert len(runs) == 3
    store.keep(subject, runs[:2])
    result = calibrate(traced, *arguments)
    assert result.returncode == 0, result.stderr
    assert len([*shares(result.stderr)]) == 1
    assert len(store.runs(subject)) == 3
    result = calibrate(traced, "--again", *arguments)
    assert len([*shares(result.stderr)]) == 3
    assert len(store.runs(subject)) == 3


# Half a second, and a part more of it while it is recorded.
WHOLE = """
import time
import rlscope as rls
from rlscope.recorder import runtime

def spin(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass

for _ in range(1000):
    with rls.operation("work"):
        spin(500_000)
        if runtime.is_recording():
            spin(250_000)
"""


def test_whole_runs_tell_the_cost_of_a_program_without_iterations(
    traced: TracedPython, tmp_path: Path
) -> None:
    program = script(tmp_path, WHOLE)
    result = calibrate(traced, "--within", "20%", traced.python, program)
    assert result.returncode == 0, result.stderr
    assert "whole runs take turns" in result.stderr
    assert result.stderr.count("whole runs: recording adds ") == 3
    run = traced.run("-o", "run", traced.python, program)
    assert run.returncode == 0, run.stderr
    assert command_line.rlscope("summary", "run").returncode == 0
    with load("run") as trace:
        (row,) = trace.sql(
            "SELECT CAST(SUM(overhead_ns) AS DOUBLE) AS ns FROM overhead "
            "WHERE kind NOT IN ('clamped', 'ring wait')"
        ).to_dicts()
        (operation,) = trace.sql(
            "SELECT method FROM calibration WHERE kind = 'operation'"
        ).to_dicts()
    assert row["ns"] == pytest.approx(250e6, rel=0.3)
    assert operation["method"].startswith("`rlscope calibrate` (3 runs, ")


def test_a_program_of_no_length_has_no_cost(traced: TracedPython, tmp_path: Path) -> None:
    result = calibrate(traced, traced.python, script(tmp_path, "pass"))
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert "whole runs take turns" in lines[1]
    assert "the program ran too briefly to tell what a record costs" in lines[-1]


def test_a_program_that_ends_by_itself_is_started_again(
    traced: TracedPython, tmp_path: Path
) -> None:
    program = script(tmp_path, TIDY + KNOWN)
    result = calibrate(traced, "--within", "50%", traced.python, program, "0.5", "200")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "exit functions ran\n" * 3
    assert [*shares(result.stderr)] == pytest.approx(own_measures(tmp_path), abs=15)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("raise SystemExit(3)", 1, "exited with code 3; this run is not kept; kept so far: none"),
        (
            "import rlscope as rls\nfor _ in range(30): rls.iteration()",
            1,
            "ended before it had 10 pairs of iterations: let it run longer, with a longer --limit;",
        ),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            1,
            "the program was killed by SIGKILL; this run is not kept; kept so far: none",
        ),
    ],
)
def test_a_program_that_cannot_be_calibrated(
    traced: TracedPython, tmp_path: Path, text: str, code: int, said: str
) -> None:
    result = calibrate(traced, traced.python, script(tmp_path, text))
    assert result.returncode == code
    lines = result.stderr.splitlines()
    assert lines[0].startswith("rlscope calibrate: run 1: ")
    assert len(lines) == 2, lines
    assert said in lines[1]
    assert list(tmp_path.joinpath("rlscope_out").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "give the command to run: rlscope calibrate [options] [--] COMMAND..."),
        (["--within", "0", "python"], 2, "more than 0 and at most 100 percent, got '0'"),
        (["--within", "much", "python"], 2, "'much'"),
        (["--limit", "-1", "python"], 2, "'-1'"),
        (["no-such-program"], 127, "no-such-program: command not found"),
    ],
)
def test_bad_usage(traced: TracedPython, arguments: list[str], code: int, said: str) -> None:
    result = calibrate(traced, *arguments)
    assert result.returncode == code
    assert said in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("seconds", [0.1, 1])
def test_iterations_that_are_too_long_end_with_the_limit(
    traced: TracedPython, tmp_path: Path, seconds: float
) -> None:
    """A pair takes four iterations: fewer than ten pairs fit, or not even one block."""
    text = "import time\nimport rlscope as rls\nfor _ in range(10000):\n rls.iteration()\n"
    program = script(
        tmp_path, TIDY + text + f" with rls.operation('work'): time.sleep({seconds})\n"
    )
    result = calibrate(traced, "--limit", "2", traced.python, program)
    assert (result.returncode, result.stdout) == (1, "exit functions ran\n")
    assert "before it had 10 pairs of iterations" in result.stderr.splitlines()[-1]


def test_folders_that_cannot_be_written(
    traced: TracedPython, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = script(tmp_path, KNOWN)
    arguments = ("--within", "50%", traced.python, program, "0.5", "400")
    (tmp_path / "rlscope_out").touch()
    result = calibrate(traced, *arguments)
    assert result.returncode == 1
    assert f"cannot write into {tmp_path}/rlscope_out: " in result.stderr.splitlines()[-1]
    (tmp_path / "rlscope_out").unlink()
    (tmp_path / "data").touch()
    result = calibrate(traced, *arguments)
    assert result.returncode == 1
    assert f"cannot write {tmp_path}/data/rlscope/calibrations/train-" in result.stderr


def test_ctrl_c_ends_the_program_and_keeps_the_runs_before(
    traced: TracedPython, tmp_path: Path
) -> None:
    """The second run goes on until a Ctrl-C, which a terminal sends to the whole group."""
    program = script(
        tmp_path,
        """
import os, signal
if os.path.exists("second"):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.killpg(0, signal.SIGINT)
    signal.pause()
open("second", "x").close()
"""
        + KNOWN,
    )
    with subprocess.Popen(
        in_turns("calibrate", traced.python, program, "0.5", "400"),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        said = process.communicate(timeout=120)[1]
    assert process.returncode == 1
    last = said.splitlines()[-1]
    assert "the program was killed by SIGINT; this run is not kept; kept so far: 1 run" in last
    (kept,) = Path(os.environ["XDG_DATA_HOME"], "rlscope", "calibrations").iterdir()
    (calibration,) = json.loads(kept.read_text())["calibrations"]
    assert len(calibration["runs"]) == 1


def test_signals_come_to_the_main_thread_only(traced: TracedPython, tmp_path: Path) -> None:
    """In the second run there are threads of NumPy, which the analysis of the first one needed."""
    text = """
import glob, os, signal
with open("threads", "w") as file:
    for status in glob.glob(f"/proc/{os.getppid()}/task/*/status"):
        fields = dict(line.split(":") for line in open(status))
        blocked = int(fields["SigBlk"], 16)
        if fields["Pid"] == fields["Tgid"]: continue  # which waits for them
        taken = (signal.SIGTERM, signal.SIGCHLD)
        print(*(blocked >> number - 1 & 1 for number in taken), file=file)
"""
    program = script(tmp_path, text + KNOWN)
    result = calibrate(traced, "--within", "50%", traced.python, program, "1", "200")
    assert result.returncode == 0, result.stderr
    threads = (tmp_path / "threads").read_text().splitlines()
    assert len(threads) >= 2
    assert set(threads) == {"1 1"}


def test_a_run_without_any_cost_says_so(traced: TracedPython, tmp_path: Path) -> None:
    """So few records that no probe ran, and too little CPU time for a loop at the end."""
    result = traced.run("-o", "run", traced.python, script(tmp_path, KNOWN), "0", "1")
    assert result.returncode == 0, result.stderr
    with load("run") as trace:
        (process,) = trace.sql("SELECT os_pid FROM process").to_dicts()
    with pytest.raises(TooShort, match="ran too briefly"):
        calibrated_run.records_of("run", [process["os_pid"]])


def turns(traced: TracedPython, folder: Path, text: str, *options: str) -> list[turns_file.Block]:
    """The blocks of a program that rls-prof runs with turns, into folder/run."""
    file = folder / "turns"
    result = traced.run(
        "--no-probes",
        "--no-waits",
        *options,
        "-o",
        str(folder / "run"),
        traced.python,
        script(folder, text),
        env={**untraced_environment(), "RLSCOPE_TURNS": f"bare,recorded:{file}"},
    )
    assert result.returncode == 0, result.stderr
    return turns_file.read(file)


def test_exactly_the_recorded_iterations_are_in_the_trace(
    traced: TracedPython, tmp_path: Path, library: str
) -> None:
    """Native calls and operations, of annotated and of other code; the rest passes no stub."""
    blocks = turns(traced, tmp_path, counted_loop(library))
    seen = check_counted(tmp_path)
    complete = sum(block.iterations for block in blocks if block.mode == turns_file.RECORDED)
    assert 0 <= seen - complete <= 2 * max(block.iterations for block in blocks)


@pytest.mark.parametrize("iterations", [7, 101, 102, 103])
def test_a_block_that_the_end_of_the_program_cuts_short_counts(
    traced: TracedPython, tmp_path: Path, iterations: int
) -> None:
    """Costs of records are divided among the recorded iterations, all of them."""
    text = """
import rlscope as rls
while True:
    rls.iteration()
    with rls.operation("work"):
        sum(range(4_000))
"""
    blocks = turns(traced, tmp_path, text, "--exit-after-iterations", str(iterations))
    assert sum(block.iterations for block in blocks) == iterations - 3  # of before the first round
    recorded = sum(block.iterations for block in blocks if block.mode == turns_file.RECORDED)
    with load(tmp_path / "run") as trace:
        (row,) = trace.sql("SELECT operation_events FROM process").to_dicts()
    assert row["operation_events"] == recorded


def test_windows_of_the_program_spoil_their_blocks_only(
    traced: TracedPython, tmp_path: Path
) -> None:
    blocks = turns(
        traced,
        tmp_path,
        """
import rlscope as rls
for number in range(300):
    rls.iteration()
    if number == 100: rls.stop()
    if number == 200: rls.start()
    with rls.operation("work"):
        sum(range(20_000))
""",
    )
    recorded = sum(block.iterations for block in blocks if block.mode == turns_file.RECORDED)
    others = sum(block.iterations for block in blocks if block.mode == turns_file.BARE)
    assert 0 < recorded < others
    with load(tmp_path / "run") as trace:
        (row,) = trace.sql("SELECT operation_events FROM process").to_dicts()
    assert row["operation_events"] >= recorded


def test_fork_children_have_turns_of_their_own(traced: TracedPython, tmp_path: Path) -> None:
    blocks = turns(
        traced,
        tmp_path,
        """
import os
import rlscope as rls
def loop(iterations):
    for _ in range(iterations):
        rls.iteration()
        with rls.operation("work"):
            sum(range(20_000))
loop(100)
child = os.fork()
loop(100)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
""",
    )
    processes = {block.process for block in blocks}
    assert len(processes) == 2
    for process in processes:
        own = [block for block in blocks if block.process == process and block.measured]
        assert {block.mode for block in own} == {turns_file.BARE, turns_file.RECORDED}


def test_automatic_iterations_take_turns_too(traced: TracedPython, tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    pytest.importorskip("torch")
    blocks = turns(
        traced,
        tmp_path,
        """
import gymnasium, torch
environment = gymnasium.make("CartPole-v1")
policy = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
observation, _ = environment.reset(seed=1)
for _ in range(300):
    for _ in range(8):
        with torch.no_grad():
            action = int(policy(torch.from_numpy(observation)).argmax())
        observation, _, done, cut, _ = environment.step(action)
        if done or cut:
            observation, _ = environment.reset()
    optimizer.zero_grad()
    policy(torch.from_numpy(observation)).sum().backward()
    optimizer.step()
""",
    )
    measured = [block for block in blocks if block.measured]
    assert {block.mode for block in measured} == {turns_file.BARE, turns_file.RECORDED}
    assert len(measured) >= 4


def test_the_page_names_the_calibration(traced: TracedPython, tmp_path: Path) -> None:
    program = script(tmp_path, KNOWN)
    run = traced.run("-o", "run", traced.python, program, "0.5", "30")
    assert run.returncode == 0, run.stderr
    subject = read_subject("run")
    assert subject is not None
    measured = Run("2026-01-02T00:00:00+00:00", 50, 5e5, 1e4, 1e6, 2e3, {"operation": (10.0, 0.3)})
    Store(program).keep(subject, [measured] * 3)
    result = command_line.rlscope("report", "run")
    assert result.returncode == 0, result.stderr
    assert (
        "<code>rlscope calibrate</code> (3 runs, 2026-01-02)" in Path("run/report.html").read_text()
    )
    Store(program).keep(subject, [measured] * 4)
    said = command_line.rlscope("summary", "run").stdout
    assert "(4 runs, 2026-01-02)" in " ".join(said.split())
