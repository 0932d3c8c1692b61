"""`rlscope survey` of small programs of one's own: good, failing, endless, interrupted."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.process.command_line import rlscope
from support.process.traced_python import TracedPython, untraced_environment

from rlscope import registry
from rlscope.opening import load
from rlscope.survey import results

Done = subprocess.CompletedProcess[str]

# Trains on and on.
LOOP = """
import itertools
import rlscope as rls
for number in itertools.count():
    rls.iteration()
    with rls.operation("simulation"):
        sum(range(3_000))
    with rls.operation("inference"):
        sum(range(1_000))
"""
# Beside it, two processes that infer, however slow they are: each iteration waits for both.
WORKERS = """
import mmap, os, time
import rlscope as rls
parent = os.getpid()
done = memoryview(mmap.mmap(-1, 16)).cast("Q")
for number in range(2):
    if os.fork() == 0:
        while os.getppid() == parent:
            with rls.operation("inference"):
                sum(range(1_000))
            done[number] += 1
        os._exit(0)

def wait_for_both():
    before = list(done)
    while any(now == then for now, then in zip(done, before)):
        time.sleep(0.001)
"""
FAILING = """
print("a word before")
raise ValueError("no such environment")
"""
# Has no iteration at which it could be asked to end.
ENDLESS = """
import time
print("here", flush=True)
while True:
    time.sleep(0.1)
"""
# Says that it runs, and waits until it may.
WAITING = """
import os, pathlib, time
pathlib.Path("started").write_text(str(os.getpid()))
while not pathlib.Path("go").exists():
    time.sleep(0.05)
"""
PATIENCE = 60.0
VERBS = (
    ["advise"],
    ["export", "-o", "exported.json"],
    ["info"],
    ["query", "SELECT 1"],
    ["report", "-o", "report.html"],
    ["runs"],
    ["summary"],
)
"""All that take a trace, as they are given one."""
NOT_OF_A_TRACE = {
    *("baseline", "calibrate", "diff", "doctor", "import", "mcp", "prof", "survey", "validate")
}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def command(traced: TracedPython, *arguments: str) -> list[str]:
    survey = [traced.python, "-m", "rlscope", "survey", "--experiment", "mine"]
    return [*survey, "--cells", "cells.toml", "--calibration", "0", "--seconds", "0.2", *arguments]


def survey(traced: TracedPython, *arguments: str, **environ: str) -> Done:
    return subprocess.run(
        command(traced, *arguments),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**untraced_environment(), **environ},
    )


def write_cells(**programs: str) -> None:
    """A cell for each program, by name; `needs` and the like follow a line `#: `."""
    lines = []
    for name, text in programs.items():
        Path(f"{name}.py").write_text(text)
        more = "".join(f", {line[3:]}" for line in text.splitlines() if line.startswith("#: "))
        lines.append(
            f'{{ name = "{name}", command = "python {name}.py", experiment = ["mine"]{more} }},'
        )
    Path("cells.toml").write_text("cells = [\n" + "\n".join(lines) + "\n]\n")


def wait_for(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_one_bad_cell_does_not_stop_the_others(traced: TracedPython) -> None:
    write_cells(
        good=f"#: steps = 4, labels = {{ algorithm = 'PPO', policy = 'on-policy' }}\n{LOOP}",
        failing=FAILING,
        absent="#: needs = ['no_such_module']\n",
        endless=f"#: limit = 5, warmup = 0\n{ENDLESS}",
    )
    done = survey(traced, "-n", "2", "-o", "found")
    assert (done.returncode, done.stdout) == (0, "found/survey.html\n"), done.stderr
    said = done.stderr.splitlines()
    assert said[0] == (
        "rlscope survey: left out: absent: no_such_module is not installed: "
        "pip install no_such_module"
    )
    # Interleaved: each cell once, before any has its second repetition.
    order = [line.removeprefix("rlscope survey: ").partition(":")[0] for line in said[1:]]
    assert [each.removesuffix(" failed") for each in order] == [
        f"{name}, repetition {number}"
        for number in (1, 2)
        for name in ("good", "failing", "endless")
    ]
    assert all("ValueError: no such environment" in line for line in said if "failing," in line)
    assert all("did not end within 5 s" in line for line in said if "endless," in line)

    found = results.read("found/results.json")
    by_name = {each.cell.name: each for each in found.cells}
    assert [run.repetition for run in by_name["good"].good] == [1, 2]
    assert not by_name["failing"].good and not by_name["endless"].good
    assert by_name["absent"].absence
    for run in by_name["good"].good:
        assert run.steps == 4 * run.iterations > 0
        assert run.gpu_absence and not run.has_gpu
        assert {row.operation for row in run.rows} >= {"simulation", "inference"}
        assert [process.role for process in run.processes] == ["main"]

    page = Path("found/survey.html").read_text()
    assert "ValueError: no such environment" in page
    rows = list(csv.DictReader(Path("found/cells.csv").read_text().splitlines()))
    assert {row["cell"] for row in rows} == {"good", "failing", "absent", "endless"}


def test_a_quick_survey_names_what_it_has_no_time_for(traced: TracedPython) -> None:
    write_cells(good=LOOP, slow=f"#: quick = false\n{LOOP}")
    done = survey(traced, "--quick")
    assert (done.returncode, done.stdout) == (0, "survey/survey.html\n")
    assert done.stderr.startswith("rlscope survey: left out: slow: it is not part of --quick\n")
    good, slow = results.read("survey/results.json").cells
    assert ([run.repetition for run in good.good], slow.runs) == ([1], [])
    assert "slow: it is not part of --quick" in Path("survey/survey.html").read_text()


def test_the_trace_of_a_run_has_its_window_and_opens_with_every_verb(
    traced: TracedPython,
) -> None:
    write_cells(good=f"#: warmup = 3\n{LOOP}")
    assert survey(traced, "-n", "1", "-o", "found").returncode == 0
    (cell,) = results.read("found/results.json").cells
    (run,) = cell.runs
    with load("found/good/1") as trace:
        whole = trace.sql(
            "SELECT CAST(SUM(duration_ns) AS BIGINT) AS ns FROM breakdown WHERE stage = 'loop'"
        ).to_dicts()
        counted = trace.sql("SELECT COUNT(*) FILTER (complete) AS done FROM iteration").to_dicts()
    recorded = sum(row.duration_ns for row in run.loop)
    assert (recorded, run.iterations) == (whole[0]["ns"], counted[0]["done"])
    for verb in VERBS:
        ran = rlscope(verb[0], "found/good/1", *verb[1:])
        assert ran.returncode == 0, ran.stderr


def test_the_time_of_an_iteration_is_that_of_the_process_that_trains(
    traced: TracedPython,
) -> None:
    write_cells(workers=f"{WORKERS}{LOOP}    wait_for_both()\n")
    assert survey(traced, "-n", "1", "-o", "found").returncode == 0
    (run,) = results.read("found/results.json").cells[0].runs
    assert run.training is not None
    assert run.processes[run.training].role == "main"
    looping = {row.process for row in run.rows}
    assert len(looping) == 3, "both workers have a loop of their own"
    with load("found/workers/1") as trace:
        rows = trace.sql(
            "SELECT role, CAST(SUM(duration_ns) AS BIGINT) AS ns FROM breakdown "
            "JOIN process USING (process_id) WHERE stage = 'loop' GROUP BY role"
        ).to_dicts()
    of_roles = {row["role"]: row["ns"] for row in rows}
    assert sum(row.duration_ns for row in run.loop) == of_roles["main"]
    assert sum(row.duration_ns for row in run.rows) == sum(of_roles.values()) > of_roles["main"]


def test_every_verb_either_opens_a_trace_or_is_not_of_one() -> None:
    opening = {verb[0] for verb in VERBS}
    assert opening | NOT_OF_A_TRACE == set(registry.builtin(registry.COMMANDS))
    assert not opening & NOT_OF_A_TRACE


def test_a_program_that_never_comes_to_its_warm_up_says_so(traced: TracedPython) -> None:
    write_cells(brief="print('done')\n")
    done = survey(traced, "-n", "1", "-o", "found")
    assert (done.returncode, done.stdout) == (1, "found/survey.html\n")
    assert "nothing was recorded: the program ended before its warm-up of 1 iter" in done.stderr


def test_what_failed_is_run_again_and_what_is_done_is_kept(traced: TracedPython) -> None:
    write_cells(good=LOOP, late=FAILING)
    assert survey(traced, "-n", "1", "-o", "found").returncode == 0
    before = Path("found/good/1.json").read_bytes()
    Path("late.py").write_text(LOOP)
    again = survey(traced, "-n", "1", "-o", "found")
    assert again.returncode == 0
    assert "1 of 2 runs are done already" in again.stderr
    assert Path("found/good/1.json").read_bytes() == before
    assert all(each.good for each in results.read("found/results.json").cells)
    # A window of another length is another measurement.
    assert (
        "there already" not in survey(traced, "-n", "1", "--seconds", "0.3", "-o", "found").stderr
    )


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow),
        (signal.SIGKILL, -9),
    ],
)
def test_an_interrupted_survey_ends_its_program_and_goes_on(
    traced: TracedPython, number: signal.Signals, code: int
) -> None:
    write_cells(good=LOOP, waiting=f"{WAITING}{LOOP}")
    arguments = ("-n", "1", "-o", "found")
    process = subprocess.Popen(
        command(traced, *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=untraced_environment(),
    )
    wait_for(lambda: Path("started").exists() and bool(Path("started").read_text()))
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (code, "")
    if number == signal.SIGINT:
        assert err.splitlines()[-1].startswith(
            "rlscope survey: interrupted; finished runs are kept"
        )
    assert "Traceback" not in err
    program = int(Path("started").read_text())
    wait_for(lambda: not is_alive(program))

    Path("go").touch()
    again = survey(traced, *arguments)
    assert again.returncode == 0, again.stderr
    assert "1 of 2 runs are done already" in again.stderr
    assert all(each.good for each in results.read("found/results.json").cells)


@pytest.mark.slow
def test_a_program_is_calibrated_before_and_once(traced: TracedPython) -> None:
    """Whatever its arguments: two cells run it."""
    Path("loop.py").write_text(LOOP)
    lines = [
        f'{{ name = "{name}", command = "python loop.py {name}", experiment = ["mine"] }},'
        for name in ("a", "b")
    ]
    Path("cells.toml").write_text("cells = [\n" + "\n".join(lines) + "\n]\n")
    done = survey(traced, "-n", "1", "--calibration", "9", "-o", "found")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if "calibrating" in line] == [
        line for line in done.stderr.splitlines() if "calibrating a" in line
    ]
    if Path("found/a/calibrated.json").exists():  # a busy machine may need longer
        found = results.read("found/results.json")
        assert all(
            "rlscope calibrate" in run.correction for each in found.cells for run in each.good
        )


def test_a_nearly_full_disk_stops_the_survey_in_one_line(traced: TracedPython) -> None:
    write_cells(good=LOOP, other=LOOP)
    done = survey(traced, "-n", "1", "-o", "found", RLSCOPE_MIN_FREE=str(1 << 60))
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "recording was cut short: the disk of the trace is nearly full" in line
    assert "finished runs are kept" in line


def test_wrong_usage_is_one_line(traced: TracedPython) -> None:
    write_cells(good=LOOP)
    unknown = survey(traced, "--experiment", "framwork", "-o", "found")
    assert unknown.returncode == 2
    assert unknown.stderr.splitlines()[-1].startswith(
        "rlscope survey: error: no experiment 'framwork'; there are: framework, "
    )
    nobody = survey(traced, "--cell", "god", "-o", "found")
    assert nobody.returncode == 2
    assert nobody.stderr.endswith("error: no cell 'god'; did you mean good?\n")
    Path("cells.toml").write_text("cells = [")
    broken = survey(traced, "-o", "found")
    assert (broken.returncode, broken.stderr.count("\n")) == (1, 1)
    assert broken.stderr.startswith("rlscope: cells.toml is not TOML: ")
    assert not Path("found").exists()
    for wrong in (["-n", "0"], ["--seconds", "0"], ["--limit", "-1"], ["--seconds", "nan"]):
        assert survey(traced, *wrong, "-o", "found").returncode == 2


def test_a_directory_with_something_else_is_left_alone(traced: TracedPython) -> None:
    write_cells(good=LOOP)
    Path("found").mkdir()
    Path("found/thesis.tex").write_text("mine")
    done = survey(traced, "-n", "1", "-o", "found")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "is not empty and holds no survey" in done.stderr
    assert os.listdir("found") == ["thesis.tex"]


def test_two_surveys_cannot_share_a_directory(traced: TracedPython) -> None:
    write_cells(waiting=f"{WAITING}{LOOP}")
    with subprocess.Popen(
        command(traced, "-n", "1", "-o", "found"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=untraced_environment(),
    ) as process:
        try:
            wait_for(lambda: Path("started").exists())
            second = survey(traced, "-n", "1", "-o", "found")
            assert (second.returncode, second.stderr.count("\n")) == (1, 1)
            assert "still going" in second.stderr
        finally:
            Path("go").touch()
    assert process.returncode == 0


def test_pages_are_made_again_from_results_alone(traced: TracedPython) -> None:
    write_cells(good=LOOP)
    assert survey(traced, "-n", "1", "-o", "found").returncode == 0
    made = survey(traced, "--page-from", "found/results.json", "-o", "pages")
    assert (made.returncode, made.stdout) == (0, "pages/survey.html\n"), made.stderr
    for name in ("survey.html", "survey.md", "cells.csv", "results.json"):
        assert Path("pages", name).read_bytes() == Path("found", name).read_bytes()
    listed = survey(traced, "--list", "-o", "found")
    assert listed.stdout == "good: python good.py\n"
    assert json.loads(Path("found/survey.json").read_text())["repetitions"] == 1
