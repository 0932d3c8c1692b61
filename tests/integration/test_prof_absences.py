"""Programs that cannot enter the trace: named on stderr, while they run and at the end."""

import shutil
import subprocess
from pathlib import Path

import pytest
from support.process.recorder_programs import compile_program
from support.process.traced_python import TracedPython

pytestmark = pytest.mark.usefixtures("clean_environment")

# A child in which the kernel refuses to open files for writing; it lives until it is ended.
_FILTERED_CHILD = """
import ctypes, os, platform, struct, subprocess, sys
OPENAT = {"x86_64": 257, "aarch64": 56}[platform.machine()]
CODE = [
    (0x20, 0, 0, 0),            # load the number of the call
    (0x15, 0, 3, OPENAT),
    (0x20, 0, 0, 32),           # load its third argument
    (0x45, 0, 1, os.O_WRONLY | os.O_RDWR),
    (0x06, 0, 0, 0x50000 | 13), # fail with EACCES
    (0x06, 0, 0, 0x7FFF0000),   # allow
]
def refuse():
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in CODE))
    program = struct.pack("HxxxxxxP", len(CODE), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program):
        os._exit(77)
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, preexec_fn=refuse)
sys.stdin.read()
child.communicate()
sys.exit(child.returncode)
"""
_SILENT_FORK = """
import os, sys
pid = os.fork()
if pid == 0:
    sys.stdin.read()
    os._exit(0)
os.waitpid(pid, 0)
"""


def _absences(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if "is not in the trace" in line]


def test_a_program_that_may_not_write_is_named(traced: TracedPython, directory: str) -> None:
    command = traced.command("-o", directory, traced.python, "-c", _FILTERED_CHILD)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True) as wrapper:
        assert wrapper.stderr is not None
        first = wrapper.stderr.readline()  # while it waits for its input
        rest = wrapper.communicate("")[1]
    if wrapper.returncode == 77:
        pytest.skip("seccomp filters are not allowed here")
    assert wrapper.returncode == 0
    assert first.startswith("rls-prof: cat (pid ")
    assert f"a seccomp filter keeps it from writing to {directory}" in first
    assert _absences(rest) == [first.strip()]


def test_a_static_program_is_named(traced: TracedPython, directory: str, tmp_path: Path) -> None:
    program = compile_program(tmp_path, "int main(void) { return 3; }", options=["-static"])
    result = traced.run("-o", directory, str(program))
    assert result.returncode == 3
    (line,) = _absences(result.stderr)
    assert line.startswith(f"rls-prof: {program} (pid ")


def test_a_fork_child_that_records_nothing_is_not(traced: TracedPython, directory: str) -> None:
    command = traced.command("-o", directory, traced.python, "-c", _SILENT_FORK)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as wrapper:
        looks = 2.5  # seconds: two looks at least
        with pytest.raises(subprocess.TimeoutExpired):
            wrapper.wait(looks)
        stderr = wrapper.communicate(b"")[1].decode()
    assert wrapper.returncode == 0
    assert _absences(stderr) == []


def test_a_program_that_announces_itself_is_not(traced: TracedPython, directory: str) -> None:
    result = traced.run("-o", directory, shutil.which("true") or "true")
    assert (result.returncode, _absences(result.stderr)) == (0, [])
