"""The acceptance of a real GPU, rehearsed on the simulated one: passes, and planted failures."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from gpu.kit import copy_steps
from support.cuda.cost_kit import quick_kit
from support.cuda.runs import record_cuda
from support.cuda.simcuda_runs import RUN, Outcome, run_simulated

TESTS = Path(__file__).parent.parent
ACCEPTANCE = TESTS / "gpu" / "acceptance.py"

# Steps that need nothing but a driver and CUPTI, with the program that each one lives on; the steps
# of nvcc's programs and those of libraries are skipped where these are missing.
PROGRAMS = {
    "counts": "driver_counts.py",
    "windows-launches": "share.py",
    "golden-records": "driver_work.py",
    "graphs-driver": "driver_graph.py",
    "nesting": "runtime_calls.py",
    "injection": "driver_injection.py",
    "late-graphs": "driver_late_graph.py",
    "reset": "driver_reset.py",
    "subscribed": "subscribed.py",
    "other-injection": "driver_lasting.py",
    "hardware-trace": "driver_counts.py",
    "cost-of-calls": "call_turns.py",
    "times": "driver_spins.py",
}
BUILT = {"runtime-static", "runtime-shared", "million", "interposed"}
QUICK = sorted(PROGRAMS.keys() - {"times", "cost-of-calls", "other-injection", "windows-launches"})


def accept(folder: Path, *arguments: str, script: Path = ACCEPTANCE, **settings: Any) -> Outcome:
    """Into the folder `results`."""
    command = [sys.executable, str(script), "--results", str(folder / "results"), *arguments]
    return run_simulated(folder, command, **{"truth": False, "seconds": 1800, **settings})


def answers(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "results" / "results.jsonl").read_text().splitlines()
    return {row["step"]: row for row in map(json.loads, lines)}


def packed(folder: Path, kind: str, step: str) -> list[str]:
    """Files of one step in what is brought home."""
    with tarfile.open(folder / "results" / f"{kind}-1.tar") as archive:
        member = archive.extractfile(f"{step}.tar.gz")
        with tarfile.open(fileobj=member) as inner:
            return inner.getnames()


def planted(folder: Path, steps: Iterable[str], planting: str) -> Path:
    """The acceptance script of a copy in which the programs of steps do something else first."""
    copy_steps(folder)
    gpu = folder / "tests" / "gpu"
    for program in {PROGRAMS[step] for step in steps}:
        file = gpu / "programs" / program
        head, line, rest = file.read_text().partition("from __future__ import annotations\n")
        file.write_text(head + line + planting + rest)
    return gpu / "acceptance.py"


# ---- the whole plan -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_whole_plan_runs_and_brings_its_evidence_home(tmp_path: Path) -> None:
    done = accept(tmp_path, "--minutes", "30")
    found = answers(tmp_path)
    listed = subprocess.run(
        [sys.executable, str(ACCEPTANCE), "--list"], capture_output=True, text=True, check=True
    )
    assert found.keys() == {line.split()[3] for line in listed.stdout.splitlines()}
    # How long a wait takes, and what a call costs, depend on what else the machine does.
    timed = {"times", "cost-of-calls"}
    failed = {step: row["reason"] for step, row in found.items() if row["status"] == "FAIL"}
    assert failed.keys() <= timed, done.out
    passed = {step for step, row in found.items() if row["status"] == "PASS"}
    assert passed >= PROGRAMS.keys() - timed
    assert found["times"]["figures"]["medians_ns"] and found["cost-of-calls"]["figures"]
    skipped = {step: row["reason"] for step, row in found.items() if row["status"] == "SKIP"}
    assert all(skipped.values())
    assert skipped.keys() <= found.keys() - PROGRAMS.keys()
    if shutil.which("nvcc"):
        assert passed >= BUILT - {"runtime-static"}  # simulated CUDA runs no static runtime
    kept = packed(tmp_path, "data", "golden-records")
    assert {f"golden-records/data/work-graph/{name}.txt" for name in ("records", "calls")} < set(
        kept
    )
    assert "golden-records/data/work-trace/processes.log" in kept
    files = list((tmp_path / "results").iterdir())
    assert len(files) <= 8 and all(file.stat().st_size < 16 << 20 for file in files)
    log = (tmp_path / "results" / "log.txt").read_text()
    assert all(f" {step} (" in log for step in found)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """A run of the step `counts`, with the truth."""
    folder = tmp_path_factory.mktemp("counted")
    return folder, accept(folder, "counts", truth=True)


def test_counts_are_those_of_the_truth(counted: tuple[Path, Outcome]) -> None:
    folder, done = counted
    assert done.code == 0, done.out + done.err
    found = answers(folder)["counts"]
    assert found["status"] == "PASS"
    kinds = {"kernel": 0, "memcpy": 0, "memset": 0}
    for row in done.operations():
        if row["kind"] in kinds:
            kinds[row["kind"]] += 1
    assert found["figures"]["kernels"] == kinds["kernel"]
    assert sum(found["figures"]["copies"].values()) == kinds["memcpy"]
    assert found["figures"]["sets"] == kinds["memset"]


SHORTER = {"window_steps.py": [('\nSECONDS = {False: "6"', '\nSECONDS = {False: "3"')]}


def test_windows_have_the_kernels_of_whole_recordings(tmp_path: Path) -> None:
    accept(tmp_path, "windows-launches", script=quick_kit(tmp_path, SHORTER))
    found = answers(tmp_path)["windows-launches"]
    assert found["status"] == "PASS", found
    figures = found["figures"]
    assert figures["tenth"]["kernels"] == figures["whole"]["kernels"]
    assert figures["tenth"]["losses"].keys() == {"gpu_unrecorded"}


def test_a_record_that_windows_lose_fails_their_step(tmp_path: Path) -> None:
    one_way = [*SHORTER["window_steps.py"], ("] = tuple(WAYS)", '] = ("whole",)')]
    script = quick_kit(tmp_path, {"window_steps.py": one_way})
    accept(tmp_path, "windows-launches", script=script, SIMCUPTI_DROP_EVERY="997")
    found = answers(tmp_path)["windows-launches"]
    assert found["status"] == "FAIL" and "cuda_dropped" in found["reason"]


def test_what_has_passed_is_not_run_again(counted: tuple[Path, Outcome], tmp_path: Path) -> None:
    earlier = counted[0] / "results" / "results.jsonl"
    listed = accept(tmp_path, "--list", "--after", str(earlier)).out.splitlines()
    assert {line.split()[3] for line in listed if line.startswith("done")} == {"counts"}


def test_what_does_not_fit_is_left_for_later(tmp_path: Path) -> None:
    listed = accept(tmp_path, "--list", "--minutes", "1").out.splitlines()
    now = [line.split() for line in listed if line.startswith("now")]
    assert now and sum(float(words[1]) for words in now) <= 60
    assert any(line.startswith("later") for line in listed)
    done = accept(tmp_path, "machine", "times", "--minutes", "0.5")
    assert "no time for: times" in done.out
    assert answers(tmp_path).keys() == {"machine"}


def test_a_second_beginning_of_the_injected_library_shows(tmp_path: Path) -> None:
    program = ACCEPTANCE.parent / "programs" / "driver_injection.py"
    run = record_cuda(tmp_path, [sys.executable, str(program), "again"])
    assert "another profiler holds" in run.metadata(run.pids()[0])["cuda"]


# ---- planted failures ---------------------------------------------------------------------------

HANG = "import time\ntime.sleep(600)\n"
CRASH = "import ctypes\nctypes.string_at(0)\n"
# Says one more of everything that it counts.
MISCOUNT = """
import builtins, json
_print = builtins.print
def _more(text, **options):
    said = {k: v + 1 if type(v) is int and k != "pid" else v for k, v in json.loads(text).items()}
    _print(json.dumps(said), **options)
builtins.print = _more
"""


# One for each way to start a program; the others only before a release.
STARTED_APART = ("counts", "injection", "hardware-trace")


@pytest.mark.parametrize(
    "steps",
    [
        STARTED_APART,
        pytest.param(sorted({*QUICK} - {*STARTED_APART}), marks=pytest.mark.slow),
    ],
)
def test_a_program_that_crashes_skips_its_step_with_the_signal(
    tmp_path: Path, steps: Sequence[str]
) -> None:
    """Without rls-prof, too: nothing to hold against it. The next step runs."""
    script = planted(tmp_path, steps, CRASH)
    after = "machine"
    accept(tmp_path, *steps, after, script=script)
    found = answers(tmp_path)
    assert found.keys() == {*steps, after}
    assert {found[step]["status"] for step in steps} <= {"SKIP", "FAIL"}
    assert [step for step in steps if "SIGSEGV" not in found[step]["reason"]] == []
    assert found[after]["status"] == "PASS"


@pytest.mark.parametrize(
    "step",
    [
        "counts",
        *(pytest.param(step, marks=pytest.mark.slow) for step in ("nesting", "late-graphs")),
    ],
)
def test_a_program_that_hangs_ends_its_step_and_no_other(tmp_path: Path, step: str) -> None:
    script = planted(tmp_path, [step], HANG)
    done = accept(tmp_path, step, "subscribed", "--limit", "5", script=script)
    found = answers(tmp_path)
    assert (found[step]["status"], found["subscribed"]["status"]) == ("FAIL", "PASS"), done.out
    assert found[step]["reason"] == "it had not ended after 5 s"
    output = [name for name in packed(tmp_path, "evidence", step) if name.endswith("output.txt")]
    assert output  # where each thread was, by faulthandler
    left = subprocess.run(["pgrep", "-f", str(script.parent)], capture_output=True, text=True)
    assert left.stdout == ""


COUNTING = ("counts", "graphs-driver", "reset", "late-graphs", "nesting")


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose programs miscount, and in which the step `injection` itself crashes."""
    folder = tmp_path_factory.mktemp("failing")
    script = planted(folder, COUNTING, MISCOUNT)
    steps = script.parent / "capture_steps.py"
    text = steps.read_text()
    broken = "    import ctypes\n    ctypes.string_at(0)\n"
    head = "def injection(bench: Bench) -> Figures:\n"
    assert head in text
    steps.write_text(text.replace(head, head + broken))
    accept(folder, *COUNTING, "injection", "subscribed", script=script)
    return folder


@pytest.mark.parametrize("step", COUNTING)
def test_a_wrong_count_fails_its_step(failing: Path, step: str) -> None:
    found = answers(failing)
    assert (found[step]["status"], found["subscribed"]["status"]) == ("FAIL", "PASS")
    assert found[step]["reason"]


def test_what_cupti_gave_to_a_step_that_failed_is_kept(failing: Path) -> None:
    kept = set(packed(failing, "evidence", "counts"))
    witnessed = {f"counts/witness/{name}.txt" for name in ("records", "calls", "clocks")}
    assert kept >= {"counts/output.txt", "counts/01-driver_counts.err", "counts/witness/clocks.txt"}
    assert kept & witnessed


def test_a_step_that_itself_crashes_is_a_failure_with_its_stack(failing: Path) -> None:
    found = answers(failing)["injection"]
    assert found["status"] == "FAIL" and "SIGSEGV" in found["reason"]


def test_lost_records_fail_it(tmp_path: Path) -> None:
    done = accept(tmp_path, "counts", SIMCUPTI_DROP_EVERY="100")
    assert done.code == 1
    assert "FAIL counts" in done.out and "cuda_dropped" in done.out


def test_a_refused_cupti_fails_it_in_words(tmp_path: Path) -> None:
    done = accept(tmp_path, "injection", SIMCUPTI_SUBSCRIBE_STATUS="35")
    assert done.code == 1
    assert "lets only administrators profile" in answers(tmp_path)["injection"]["reason"]


def test_a_missing_cupti_fails_it_in_words(tmp_path: Path) -> None:
    done = accept(tmp_path, "injection", SIMCUPTI="absent")
    assert done.code == 1
    # Where a toolkit is installed its CUPTI is found, and does not take the simulated driver.
    assert "CUDA is not recorded" in answers(tmp_path)["injection"]["reason"]


def test_a_missing_library_is_a_skip_and_no_pass(tmp_path: Path) -> None:
    done = accept(tmp_path, "attaching-cupy")
    assert done.code == 1
    assert "SKIP attaching-cupy" in done.out and "cupy is not installed" in done.out


# ---- bad input ----------------------------------------------------------------------------------


def test_an_unknown_step_is_an_error(tmp_path: Path) -> None:
    done = accept(tmp_path, "counting")
    assert (done.code, done.out) == (1, "")
    assert done.err == "no such step: counting; --list names them\n"


def test_earlier_results_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    done = accept(tmp_path, "--after", "nowhere.jsonl")
    assert (done.code, done.out, done.err) == (1, "", "no such file: nowhere.jsonl\n")


def test_a_cut_line_of_earlier_results_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    line = json.dumps({"step": "counts", "status": "PASS", "seconds": 1.0})
    file.write_text(line + "\n" + line.replace("counts", "reset")[:-9])
    listed = accept(tmp_path, "--list", "--after", str(file)).out.splitlines()
    assert {line.split()[3] for line in listed if line.startswith("done")} == {"counts"}


def test_ended_in_the_middle_it_leaves_what_was_done(tmp_path: Path) -> None:
    """As a machine that is taken back: SIGKILL, and what lies on the disk is whole."""
    command = [str(RUN), sys.executable, str(ACCEPTANCE), "--results", str(tmp_path / "results")]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SIMCU")}
    with subprocess.Popen(
        [*command, "machine", "times"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith("PASS machine"):
                break
        processes = [running, *psutil.Process(running.pid).children(recursive=True)]
        for process in processes:
            process.kill()
    assert answers(tmp_path).keys() >= {"machine"}
    assert packed(tmp_path, "data", "machine")
