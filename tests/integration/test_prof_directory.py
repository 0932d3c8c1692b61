"""Where rls-prof puts a trace, what it refuses to overwrite, and what it writes down."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython, make_traced_python

pytestmark = pytest.mark.usefixtures("without_waits")


def test_default_directory_is_named_after_script_and_time(
    traced: TracedPython, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("print('trained')")
    for _ in range(2):
        assert traced.run(traced.python, "train.py", cwd=tmp_path).stdout == "trained\n"
    names = os.listdir(tmp_path / "rlscope_out")
    assert len(names) == 2
    assert all(re.fullmatch(r"train-\d{8}-\d{6}(-\d+)?", name) for name in names)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["python", "-m", "package.train", "--x"], "package.train"),
        (["/usr/bin/python3.11", "-u", "a/b/learn.py", "other.py"], "learn"),
        (["python", "-c", "pass"], "python"),
        (["./bin/my tool", "x.py"], "my_tool"),
    ],
)
def test_program_name(command: list[str], name: str) -> None:
    from rlscope.record.default_directory import program_name

    assert program_name(command) == name


def test_second_run_into_a_directory_is_refused(traced: TracedPython, directory: str) -> None:
    assert traced.run("-o", directory, "true").returncode == 0
    before = Path(directory, "run.json").read_text()
    result = traced.run("-o", directory, "echo", "ran")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        f"rls-prof: directory holds a run, will not overwrite without --force: {directory}\n"
    )
    assert Path(directory, "run.json").read_text() == before


def test_force_replaces_the_run_and_nothing_else(traced: TracedPython, directory: str) -> None:
    traced.run("-o", directory, "true")
    notes = Path(directory, "notes.txt")
    notes.write_text("mine")
    stale = Path(directory, "trace", "host.1.2.3.rls")
    stale.write_text("old")
    result = traced.run("-o", directory, "--force", "echo", "ran")
    assert (result.returncode, result.stdout) == (0, "ran\n")
    assert notes.read_text() == "mine"
    assert not stale.exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--iterations", "5000000000", "true"], 2),
        (["--delay-iterations", "99999999999999999999", "true"], 2),
        (["no-such-command-here"], 127),
        (["./script"], 127),
        (["./script-of-a-script"], 127),
    ],
)
def test_force_removes_nothing_for_a_run_that_cannot_start(
    traced: TracedPython, directory: str, tmp_path: Path, arguments: list[str], code: int
) -> None:
    for name, interpreter in [("script", "/no/such"), ("script-of-a-script", tmp_path / "script")]:
        (tmp_path / name).write_text(f"#!{interpreter} -u\n")
        (tmp_path / name).chmod(0o755)
    traced.run("-o", directory, "true")
    before = files_of(directory)
    result = traced.run("-o", directory, "--force", *arguments, cwd=tmp_path)
    assert result.returncode == code
    assert "Traceback" not in result.stderr
    assert files_of(directory) == before


def test_force_removes_nothing_when_a_variable_is_out_of_range(
    traced: TracedPython, directory: str
) -> None:
    traced.run("-o", directory, "true")
    before = files_of(directory)
    environ = {**os.environ, "RLSCOPE_MIN_FREE": "99999999999999999999"}
    result = traced.run("-o", directory, "--force", "true", env=environ)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "RLSCOPE_MIN_FREE must be a whole number of bytes, at most" in result.stderr
    assert files_of(directory) == before


def files_of(directory: str) -> dict[str, bytes]:
    paths = (path for path in Path(directory).rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in paths}


def test_version(traced: TracedPython) -> None:
    from rlscope import __version__

    assert traced.run("--version").stdout == f"rlscope {__version__}\n"


def test_force_is_refused_while_a_process_of_the_run_lives(
    traced: TracedPython, directory: str
) -> None:
    command = traced.command("-o", directory, "sh", "-c", "echo ready; read line")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "ready\n"
        result = traced.run("-o", directory, "--force", "echo", "ran")
        assert (result.returncode, result.stdout) == (1, "")
        assert "is still going (pid " in result.stderr
        first.communicate("go on\n")
    assert first.returncode == 0
    assert traced.run("-o", directory, "--force", "echo", "ran").stdout == "ran\n"


def test_directory_that_cannot_be_written(traced: TracedPython) -> None:
    result = traced.run("-o", "/proc/nothing", "echo", "ran")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("rls-prof: cannot record into /proc/nothing: ")
    assert result.stderr.count("\n") == 1


def test_run_json_describes_the_run_without_secrets(traced: TracedPython, directory: str) -> None:
    secret = ["--wandb-key", "s3cret", "--password=s3cret", "--lr", "3e-4"]
    environ = {**os.environ, "WANDB_API_KEY": "s3cret", "OMP_NUM_THREADS": "2"}
    traced.run("-o", directory, "--name", "mine", "true", *secret, env=environ)
    text = Path(directory, "run.json").read_text()
    run = json.loads(text)
    assert run["command"] == ["true", "--wandb-key", "***", "--password=***", "--lr", "3e-4"]
    assert run["name"] == "mine"
    assert run["environment"]["OMP_NUM_THREADS"] == "2"
    assert "s3cret" not in text


def test_secrets_are_nowhere_in_the_trace(traced: TracedPython, directory: str) -> None:
    program = "import rlscope as rls\nwith rls.operation('x'): pass"
    traced.run("-o", directory, traced.python, "-c", program, "--api-token", "s3cret")
    for path in Path(directory).rglob("*"):
        if path.is_file():
            assert b"s3cret" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give the command to run"),
        (["--iterations", "2", "--seconds", "1", "true"], "in iterations or in seconds"),
        (["--iterations", "-1", "true"], "number of iterations, got '-1'"),
        (["--seconds", "soon", "true"], "number of seconds, got 'soon'"),
        (["--iterations", "5000000000", "true"], "at most 4294967295 iterations"),
        (["--exit-after-iterations", "9" * 5000, "true"], "at most 4294967295 iterations"),
        (["--sample-seconds", "1e-9", "true"], "at least 0.05 seconds, got '1e-9'"),
        (["--rollup", "python", "train.py"], "number of minutes, got 'python'"),
        (["--rollup", "0.001", "true"], "at least 0.01 minutes, got '0.001'"),
        (["--max-size", "20 G", "true"], "got '20 G'"),
        (["--max-size", "", "true"], "got ''"),
        (["--max-size", "-1", "true"], "got '-1'"),
        (["--max-size", "1000K", "true"], "at least 1048576 bytes, got '1000K'"),
        (["--max-size", "9" * 5000, "true"], "at most 9223372036854775807 bytes, got '9999"),
        (["--no-such-option", "true"], ""),
    ],
)
def test_wrong_usage(traced: TracedPython, options: list[str], message: str) -> None:
    result = traced.run(*options)
    assert result.returncode == 2
    assert message in result.stderr


def test_help_teaches_by_example(traced: TracedPython) -> None:
    result = traced.run("--help")
    assert result.returncode == 0
    for option in ("--delay-iterations", "--exit-after-iterations", "--sample-seconds"):
        assert option in result.stdout
    assert "rls-prof -- sh -c 'python train.py | tee log'" in result.stdout


def test_quiet_run_prints_nothing(traced: TracedPython, directory: str) -> None:
    result = traced.run("--quiet", "-o", directory, "true")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_unknown_variable_is_reported(traced: TracedPython, directory: str) -> None:
    environ = {**os.environ, "RLSCOPE_MINFREE": "1"}
    result = traced.run("-o", directory, "true", env=environ)
    assert "RLSCOPE_MINFREE is unknown" in result.stderr
    assert "RLSCOPE_MIN_FREE?" in result.stderr


def test_environment_of_the_program(traced: TracedPython, directory: str) -> None:
    environ = {**os.environ, "LD_PRELOAD": "/nowhere.so", "ASAN_OPTIONS": "detect_leaks=0"}
    print_all = ["env", "-0"]
    alone = subprocess.run(print_all, env=environ, capture_output=True, text=True, check=True)
    result = traced.run("-o", directory, *print_all, env=environ)
    before, after = (
        dict(line.split("=", 1) for line in text.split("\0") if line)
        for text in (alone.stdout, result.stdout)
    )
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    ours = {"RLSCOPE_DIR", "RLSCOPE_AUTO", "LD_PRELOAD", "ASAN_OPTIONS", "CUDA_INJECTION64_PATH"}
    assert changed <= ours
    assert after["RLSCOPE_DIR"] == directory
    assert re.fullmatch(r"/nowhere\.so:/.*/librlscope[^/:]*\.so", after["LD_PRELOAD"])
    assert after["ASAN_OPTIONS"] == "detect_leaks=0:verify_asan_link_order=0"


def test_asan_program_runs(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    source = tmp_path / "hello.c"
    source.write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 6; }\n')
    program = str(tmp_path / "hello")
    subprocess.run(["cc", "-fsanitize=address", "-o", program, str(source)], check=True)
    result = traced.run("-o", directory, program)
    assert (result.returncode, result.stdout) == (6, "hello\n"), result.stderr


def test_package_below_a_path_with_a_blank(tmp_path: Path, directory: str) -> None:
    """The dynamic linker takes LD_PRELOAD apart at blanks, and has no way around it."""
    root = tmp_path / "my project"
    root.mkdir()
    spaced = make_traced_python(tmp_path / "venv", root=copy_of_package(root))
    program = "import rlscope as rls\nwith rls.operation('x'): print('in')"
    result = spaced.run("-o", directory, spaced.python, "-c", program)
    assert (result.returncode, result.stdout) == (0, "in\n")
    assert "ERROR: ld.so" not in result.stderr
    assert ": 1 events" in result.stderr


def copy_of_package(folder: Path) -> Path:
    """A checkout's rlscope/ below `folder`; returns what sys.path must hold."""
    import shutil

    from support.process.traced_python import ROOT

    shutil.copytree(ROOT / "rlscope", folder / "rlscope", symlinks=False)
    return folder
