"""What rls-prof and rlscope say to somebody who typed something else than was meant."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.files.tiny_traces import write_trace
from support.process.command_line import rlscope

from rlscope.commands import prof
from rlscope.report.closing import ran_no_python
from rlscope.report.contents import Contents


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("print('trained')\n")
    return tmp_path


def rls_prof(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rlscope", "prof", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_the_package_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rlscope", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("rlscope ")


def test_a_script_gets_its_interpreter() -> None:
    done = rls_prof("train.py", "--seed", 1)
    assert done.returncode == 127
    assert "rls-prof python train.py --seed 1" in done.stderr
    assert not Path("rlscope_out").exists()
    assert "python" not in rls_prof("no-such-program").stderr


def test_an_unknown_option_names_the_nearest() -> None:
    assert "did you mean --iterations?" in rls_prof("--iteration", 5, "python", "train.py").stderr
    assert "did you mean --format?" in rlscope("report", ".", "--formt", "json").stderr
    assert "did you mean" not in rlscope("report", ".", "--zzz").stderr


def test_rls_prof_alone_shows_an_example() -> None:
    done = rls_prof()
    assert done.returncode == 2
    assert "rls-prof python train.py" in done.stderr


@pytest.mark.parametrize("verb", ["summary", "report", "query"])
def test_a_folder_of_runs_lists_them(verb: str, place: Path) -> None:
    runs = [write_trace("workers", place / "runs" / name) for name in "abcdefg"]
    done = rlscope(verb, place / "runs", *(["FROM run"] if verb == "query" else []))
    assert done.returncode == 1
    assert all(str(run) in done.stderr for run in runs[:5])
    assert str(runs[5]) not in done.stderr
    assert "2 more" in done.stderr


def test_a_query_says_that_the_directory_comes_first(place: Path) -> None:
    root = write_trace("workers", place / "run")
    done = rlscope("query", "SELECT 1", root)
    assert done.returncode == 2
    assert f'rlscope query {root} "SELECT ..."' in done.stderr


def test_output_that_is_a_file_is_called_one() -> None:
    done = rls_prof("-o", "train.py", sys.executable, "train.py")
    assert done.returncode == 1
    assert "a file, not a folder" in done.stderr
    assert Path("train.py").read_text() == "print('trained')\n"


def test_a_folder_with_other_files_is_named() -> None:
    Path("mine").mkdir()
    Path("mine/notes.txt").touch()
    options = ["-o", "mine", "--no-report"]
    assert "notes.txt" in rls_prof(*options, sys.executable, "train.py").stderr
    again = rls_prof("--force", *options, sys.executable, "train.py").stderr
    assert "notes.txt" not in again, "a run of ours lies there already"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_suggests_another(place: Path) -> None:
    place.chmod(0o500)
    assert "-o DIR" in rls_prof(sys.executable, "train.py").stderr


@pytest.mark.parametrize("reason", ["Permission denied", "Read-only file system"])
def test_the_remedy_of_a_folder_that_cannot_be_written(reason: str) -> None:
    assert "-o DIR" in prof._with_remedy(f"cannot record into x: {reason}")
    assert "-o DIR" not in prof._with_remedy("cannot record into x: No space left on device")


def test_a_command_without_python_leaves_nothing() -> None:
    done = rls_prof("ls")
    assert done.returncode == 0
    assert "train.py" in done.stdout
    assert "no Python ran in ls" in done.stderr
    assert not Path("rlscope_out").exists()


def test_a_folder_that_was_asked_for_stays() -> None:
    assert "no Python ran in ls" in rls_prof("-o", "run", "ls").stderr
    assert Path("run/processes.log").is_file()


def test_a_run_beside_it_stays() -> None:
    rls_prof("--no-report", sys.executable, "train.py")
    (kept,) = Path("rlscope_out").iterdir()
    rls_prof("ls")
    assert [*Path("rlscope_out").iterdir()] == [kept]


def test_a_shell_that_runs_python_is_no_run_without_python() -> None:
    done = rls_prof("--no-report", "sh", "-c", f"{sys.executable} train.py")
    assert "no Python" not in done.stderr
    assert Path("rlscope_out").is_dir()


@pytest.mark.parametrize(
    "fact", [{"events": 1}, {"pythons": 1}, {"unrecorded": 1}, {"lost": {"events": 1}}]
)
def test_a_trace_that_says_something_is_not_given_up(fact: dict[str, object]) -> None:
    class Ended:
        removed = False
        running = ()
        statistics: dict[str, int] = {}  # noqa: RUF012

    assert ran_no_python(Ended(), Contents())  # type: ignore[arg-type]
    assert not ran_no_python(Ended(), Contents(**fact))  # type: ignore[arg-type]


def test_an_interrupted_analysis_says_how_to_do_it_later(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with prof._stated("cannot analyse the trace", "rlscope summary runs/x does it later"):
        signal.raise_signal(signal.SIGINT)
    assert "rlscope summary runs/x" in capsys.readouterr().err
