"""Interpreters without rlscope: in the trace, named on stderr in time, with the remedy."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.process.traced_python import ROOT, TracedPython, make_bare_venv, make_traced_python

pytestmark = pytest.mark.usefixtures("clean_environment")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python without rlscope."""
    return make_bare_venv(tmp_path_factory.mktemp("bare") / "venv")


def _warnings(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if "has no Python layer" in line]


def _pythons(directory: str) -> list[str | None]:
    from rlscope._trace import Directory

    return [process["python"] or None for process in Directory(directory).processes]


def test_other_venv_is_named_while_it_runs_and_at_the_end(
    traced: TracedPython, directory: str, bare: str
) -> None:
    command = traced.command("-o", directory, bare, "-c", "input()")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True) as wrapper:
        assert wrapper.stderr is not None
        first = wrapper.stderr.readline()  # while the program waits for its input
        rest = wrapper.communicate("\n")[1]
    assert first.startswith(f"rls-prof: {bare} (pid ")
    assert "rlscope is not installed in it" in first
    assert f"to install it there: {bare} -m pip install " in first
    assert _warnings(rest) == [first.strip()]
    assert _pythons(directory) == [None]


def test_short_program_is_named_at_the_end(traced: TracedPython, directory: str, bare: str) -> None:
    result = traced.run("-o", directory, bare, "-c", "print('ran')")
    assert result.stdout == "ran\n"
    assert len(_warnings(result.stderr)) == 1


def test_python_from_path_without_activation(
    traced: TracedPython, directory: str, bare: str
) -> None:
    environ = {**os.environ, "PATH": f"{os.path.dirname(bare)}:{os.environ['PATH']}"}
    result = traced.run("-o", directory, "python", "-c", "print(1)", env=environ)
    (line,) = _warnings(result.stderr)
    assert line.startswith(f"rls-prof: {bare} (pid ")
    assert line.endswith(f"to use the one that has it: rls-prof {traced.python} -c 'print(1)'")


def test_no_site_packages(traced: TracedPython, directory: str) -> None:
    result = traced.run("-o", directory, traced.python, "-X", "utf8", "-IS", "-c", "print(1)")
    (line,) = _warnings(result.stderr)
    assert f"{traced.python} (pid " in line
    assert line.endswith("-S keeps it from site-packages; run it without -S")


def test_rlscope_that_cannot_start(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    """Installed, but without an extension module for this interpreter."""
    shutil.copytree(ROOT / "rlscope", tmp_path / "rlscope", ignore=shutil.ignore_patterns("*.so"))
    other = make_traced_python(tmp_path / "venv", root=tmp_path)
    program = "import rlscope as rls\nwith rls.operation('x'): print('ran')"
    result = traced.run("-o", directory, other.python, "-c", program)
    assert (result.returncode, result.stdout) == (0, "ran\n")
    (line,) = _warnings(result.stderr)
    before, _, check = line.partition("its rlscope did not start; to see why: ")
    assert other.python in before
    reason = subprocess.run(
        check, shell=True, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "_runtime" in reason.stdout


def test_child_of_a_shell_is_found_too(traced: TracedPython, directory: str, bare: str) -> None:
    script = f"{bare} -c 'import time; time.sleep(4)'; {bare} -c 'import time; time.sleep(0.3)'"
    result = traced.run("-o", directory, "sh", "-c", script)
    lines = _warnings(result.stderr)
    assert len(lines) == 2 and lines[0] == lines[1], "once while it runs, once at the end"
    assert lines[0].startswith(f"rls-prof: {bare} (pid ")


@pytest.mark.parametrize("option", ["--version", "-V", "-h"])
def test_interpreter_that_only_informs_is_no_finding(
    traced: TracedPython, directory: str, bare: str, option: str
) -> None:
    result = traced.run("-o", directory, bare, option)
    assert _warnings(result.stderr) == []


def test_traced_interpreter_is_no_finding(traced: TracedPython, directory: str) -> None:
    program = "import time, subprocess, sys; subprocess.run([sys.executable, '-c', 'pass']);"
    result = traced.run("-o", directory, traced.python, "-c", program + "time.sleep(1.8)")
    assert _warnings(result.stderr) == []
    assert None not in _pythons(directory)


def test_program_with_a_python_of_its_own(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    """A C program that embeds libpython, as frozen applications do."""
    import sysconfig

    library = sysconfig.get_config_var("LIBDIR")
    version = sysconfig.get_config_var("LDVERSION")
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.skip("this Python has no shared library to embed")
    source = tmp_path / "game.c"
    source.write_text(
        "void Py_InitializeEx(int); int PyRun_SimpleString(const char *);\n"
        'int main(void) { Py_InitializeEx(1); return PyRun_SimpleString("'
        'import time; time.sleep(4); print(1, flush=True)"); }\n'
    )
    program = str(tmp_path / "game")
    link = [f"-L{library}", f"-lpython{version}", f"-Wl,-rpath,{library}"]
    subprocess.run(["cc", "-o", program, str(source), *link], check=True)
    environ = {**os.environ, "PYTHONHOME": sys.base_prefix}
    result = traced.run("-o", directory, program, env=environ)
    assert result.stdout == "1\n"
    lines = _warnings(result.stderr)
    assert len(lines) == 2
    assert "it carries a Python of its own; run its script instead: rls-prof " in lines[0]


def test_warning_does_not_wait_for_the_end(traced: TracedPython, directory: str, bare: str) -> None:
    command = traced.command("-o", directory, bare, "-c", "import time; time.sleep(30)")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as wrapper:
        assert wrapper.stderr is not None
        begun = time.monotonic()
        assert len(_warnings(wrapper.stderr.readline())) == 1
        assert time.monotonic() - begun < 25, "it waited for the program"
        wrapper.terminate()
        wrapper.communicate()
    assert wrapper.returncode == -15
