"""What rls-prof passes through: exit codes, streams, signals, and failures to start."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.process.traced_python import TracedPython

from rlscope.report import catalogue

pytestmark = pytest.mark.usefixtures("without_waits")

# Says that it is ready, then sleeps; a handler for each signal named on the command line says so.
_SLEEPER = """
import os, signal, sys, time
def note(number, frame):
    # Not print(): it may be what the signal interrupts.
    os.write(1, f"got {signal.Signals(number).name}\\n".encode())
    if number == signal.SIGTERM:
        sys.exit(7)
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), note)
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""


def _start(traced: TracedPython, directory: str, *program: str) -> "subprocess.Popen[str]":
    command = traced.command("-o", directory, "--", *program)
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _child_of(pid: int) -> int:
    """The program that the wrapper `pid` started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0])


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _wait_for_state(pid: int, state: str) -> None:
    deadline = time.monotonic() + 20
    while _state(pid) != state:
        assert time.monotonic() < deadline, f"{pid} is {_state(pid)}, not {state}"
        time.sleep(0.01)


@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_exit_code_is_the_programs(traced: TracedPython, directory: str, code: int) -> None:
    assert traced.run("-o", directory, "sh", "-c", f"exit {code}").returncode == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT])
def test_dies_by_the_signal_that_killed_the_program(
    traced: TracedPython, directory: str, number: signal.Signals
) -> None:
    result = traced.run("-o", directory, "sh", "-c", f"kill -{int(number)} $$")
    assert result.returncode == -number
    assert f"the program was killed by {number.name}" in result.stderr


def test_uncaught_exception_is_the_programs_own(traced: TracedPython, directory: str) -> None:
    result = traced.run("-o", directory, traced.python, "-c", "raise ValueError('mine')")
    assert result.returncode == 1
    assert "ValueError: mine" in result.stderr
    assert "the program exited with code 1" in result.stderr


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (["no-such-command-here"], 127, "no-such-command-here: command not found"),
        (["./no/such/file"], 127, "./no/such/file: command not found"),
        (["/etc/passwd"], 126, "/etc/passwd: permission denied"),
        (["/etc"], 126, "/etc: is a directory"),
    ],
)
def test_program_that_cannot_start(
    traced: TracedPython, directory: str, command: list[str], code: int, message: str
) -> None:
    result = traced.run("-o", directory, *command)
    assert (result.returncode, result.stderr) == (code, f"rls-prof: {message}\n")
    assert not os.path.exists(directory)


def test_script_with_a_missing_interpreter_leaves_no_directory(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    result = traced.run("-o", directory, str(script))
    assert result.returncode == 127
    assert result.stderr.count("\n") == 1
    assert not os.path.exists(directory)


def test_script_without_an_interpreter_line_is_run_by_a_shell(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text('echo "$1"; exit 4\n')
    script.chmod(0o755)
    result = traced.run("-o", directory, str(script), "an argument")
    assert (result.returncode, result.stdout) == (4, "an argument\n")


def test_command_in_one_string_suggests_a_shell(traced: TracedPython, directory: str) -> None:
    result = traced.run("-o", directory, "python train.py | tee log")
    assert result.returncode == 127
    assert result.stderr == (
        "rls-prof: python train.py | tee log: command not found;"
        " for shell syntax: rls-prof sh -c 'python train.py | tee log'\n"
    )


def test_options_after_the_command_are_the_commands(traced: TracedPython, directory: str) -> None:
    program = "import sys; print(sys.argv[1:])"
    result = traced.run("-o", directory, "--", traced.python, "-c", program, "-o", "x", "--", "y")
    assert result.stdout == "['-o', 'x', '--', 'y']\n"


def test_stdin_and_stdout_are_the_programs(traced: TracedPython, directory: str) -> None:
    result = traced.run("-o", directory, "tr", "a-z", "A-Z", input="hello\n")
    assert result.stdout == "HELLO\n"


def test_nothing_of_ours_is_on_stdout(traced: TracedPython, directory: str) -> None:
    result = traced.run("-o", directory, "true")
    assert result.stdout == ""
    assert f"rls-prof: trace {directory}: " in result.stderr


def test_reader_sees_the_end_when_the_program_closes_stdout(
    traced: TracedPython, directory: str
) -> None:
    close_and_stay = "import os, time; os.write(1, b'x'); os.close(1); time.sleep(60)"
    with _start(traced, directory, sys.executable, "-c", close_and_stay) as wrapper:
        assert wrapper.stdout is not None
        assert wrapper.stdout.read() == "x"  # returns at the end of file, long before the program
        wrapper.terminate()


def test_writer_sees_the_end_when_the_program_closes_stdin(
    traced: TracedPython, directory: str
) -> None:
    close_and_stay = "import os, time; os.close(0); os.write(1, b'x'); time.sleep(60)"
    with _start(traced, directory, sys.executable, "-c", close_and_stay) as wrapper:
        assert wrapper.stdout is not None and wrapper.stdin is not None
        assert wrapper.stdout.read(1) == "x"
        with pytest.raises(BrokenPipeError):
            while True:
                os.write(wrapper.stdin.fileno(), b"y" * 4096)
        wrapper.terminate()


def test_closed_streams_stay_closed(traced: TracedPython, directory: str) -> None:
    show = f'{traced.python} -c \'import os; os.write(1, bytes(str(os.path.exists("/proc/self/fd/0") or os.path.exists("/proc/self/fd/2")), "ascii"))\''  # noqa: E501
    shell = f"exec {traced.prof} --no-report -o {directory} {show} <&- 2>&-"
    result = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr, result.returncode) == ("False", "", 0)


def test_exit_code_is_the_programs_where_nothing_reads_stderr(
    traced: TracedPython, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # else nothing stays in a buffer
    with _start(traced, directory, "sh", "-c", "read line; exit 7") as wrapper:
        assert wrapper.stdin is not None and wrapper.stderr is not None
        wrapper.stderr.close()
        wrapper.stdin.close()
    assert wrapper.returncode == 7


@pytest.mark.parametrize("name", ["SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"])
def test_signal_to_the_wrapper_reaches_the_program_once(
    traced: TracedPython, directory: str, name: str
) -> None:
    program = (sys.executable, "-c", _SLEEPER, name, "SIGTERM")
    with _start(traced, directory, *program) as wrapper:
        assert wrapper.stdout is not None
        assert wrapper.stdout.readline() == "ready\n"
        wrapper.send_signal(getattr(signal, name))
        assert wrapper.stdout.readline() == f"got {name}\n"
        wrapper.terminate()
        assert wrapper.stdout.read() == "got SIGTERM\n"
    assert wrapper.returncode == 7


def test_interrupt_of_the_wrapper_alone_is_ignored(traced: TracedPython, directory: str) -> None:
    program = (sys.executable, "-c", _SLEEPER, "SIGINT", "SIGTERM")
    with _start(traced, directory, *program) as wrapper:
        assert wrapper.stdout is not None
        assert wrapper.stdout.readline() == "ready\n"
        wrapper.send_signal(signal.SIGINT)
        wrapper.terminate()
        assert wrapper.stdout.read() == "got SIGTERM\n"
    assert wrapper.returncode == 7


def test_program_inherits_signal_dispositions(traced: TracedPython, directory: str) -> None:
    show = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
    alone = subprocess.run(show, capture_output=True, text=True, check=True)
    result = traced.run("-o", directory, *show)
    assert _masks(result.stdout) == _masks(alone.stdout)


def _masks(status: str) -> list[int]:
    """Blocked and ignored signals 1 to 31; 32 and 33 are the C library's own affair."""
    return [int(line.split()[1], 16) & 0x7FFFFFFF for line in status.splitlines()]


def test_continue_sent_to_the_wrapper_continues_a_stopped_program(
    traced: TracedPython, directory: str
) -> None:
    with _start(traced, directory, sys.executable, "-c", _SLEEPER, "SIGTERM") as wrapper:
        assert wrapper.stdout is not None
        assert wrapper.stdout.readline() == "ready\n"
        program = _child_of(wrapper.pid)
        os.kill(program, signal.SIGSTOP)
        _wait_for_state(program, "T")
        wrapper.send_signal(signal.SIGCONT)
        _wait_for_state(program, "S")
        wrapper.terminate()
        assert wrapper.stdout.read() == "got SIGTERM\n"
    assert wrapper.returncode == 7


def test_program_goes_on_when_the_wrapper_is_killed(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    program = f"""
import pathlib, time
import rlscope as rls
with rls.operation("before"):
    print("ready", flush=True)
input()
for _ in range(100):
    with rls.operation("after"):
        time.sleep(0.002)
pathlib.Path({str(done)!r}).write_text("yes")
"""
    wrapper = _start(traced, directory, traced.python, "-c", program)
    assert wrapper.stdout is not None and wrapper.stdin is not None
    assert wrapper.stdout.readline() == "ready\n"
    child = _child_of(wrapper.pid)
    wrapper.kill()
    wrapper.wait()
    wrapper.stdin.write("\n")
    wrapper.stdin.close()
    deadline = time.monotonic() + 30
    while not done.exists() or os.path.exists(f"/proc/{child}"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    wrapper.stdout.close()
    from rlscope._trace import Directory

    trace = Directory(directory)
    (process,) = trace.processes
    assert (process["os_pid"], process["ended"]) == (child, "exit")
    assert (process["events"], trace.losses(0)) == (101, [])


def test_wrapper_that_is_stopped_for_a_while_loses_nothing(
    traced: TracedPython, directory: str
) -> None:
    """Longer than the second after which a silent drainer counts as dead."""
    program = """
import sys, time
import rlscope as rls
count = 0
print("ready", flush=True)
begun = time.monotonic()
while time.monotonic() - begun < 2.5:
    for _ in range(100):
        with rls.operation("x"):
            count += 1
    time.sleep(0.005)
print(count)
"""
    with _start(traced, directory, traced.python, "-c", program) as wrapper:
        assert wrapper.stdout is not None
        assert wrapper.stdout.readline() == "ready\n"
        wrapper.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        wrapper.send_signal(signal.SIGCONT)
        count = int(wrapper.stdout.read())
    assert wrapper.returncode == 0
    from rlscope._trace import Directory

    trace = Directory(directory)
    assert (trace.processes[0]["events"], trace.losses(0)) == (count, [])


def test_child_that_outlives_the_program_is_named(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    (tmp_path / "lasting").symlink_to(shutil.which("sleep") or "/bin/sleep")
    known = f"until grep -aq '[l]asting' {directory}/processes.log; do sleep 0.1; done"
    script = f"PATH={tmp_path}:$PATH; lasting 30 <&- >&- 2>&- & echo $!; {known}"
    result = traced.run("-o", directory, "sh", "-c", script)
    pid = int(result.stdout)
    try:
        assert result.returncode == 0
        assert f"rls-prof: still running: {pid} (lasting 30); " in result.stderr
        assert [run.state for run in catalogue.read(directory)] == ["running"]
    finally:
        os.kill(pid, signal.SIGKILL)


# Records before and after its parent, and the wrapper, have ended.
_OUTLIVES = """
import pathlib, sys, time
import rlscope as rls
with rls.operation("early"):
    pass
folder = pathlib.Path(sys.argv[1])
(folder / "ready").touch()
while not (folder / "go").exists():
    time.sleep(0.01)
for _ in range(1000):
    with rls.operation("late"):
        pass
(folder / "done").touch()
while not (folder / "end").exists():
    time.sleep(0.01)
"""
_LEAVES_A_CHILD = f"""
import pathlib, subprocess, sys, time
streams = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.DEVNULL)
command = [sys.executable, "-c", {_OUTLIVES!r}, sys.argv[1]]
child = subprocess.Popen(command, start_new_session=True, **streams)
while not pathlib.Path(sys.argv[1], "ready").exists():
    time.sleep(0.01)
print(child.pid)
"""


def test_later_verbs_take_in_what_a_living_child_records(
    traced: TracedPython, directory: str, tmp_path: Path
) -> None:
    arguments = ("-c", _LEAVES_A_CHILD, str(tmp_path))
    result = traced.run("-o", directory, traced.python, *arguments)
    pid = int(result.stdout)
    try:
        assert f"still running: {pid} (" in result.stderr
        summary = [traced.python, "-m", "rlscope", "summary", directory]
        before = subprocess.run(summary, capture_output=True, text=True, check=True).stdout
        assert "early" in before and "late" not in before
        (tmp_path / "go").touch()
        deadline = time.monotonic() + 30
        while not (tmp_path / "done").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        after = subprocess.run(summary, capture_output=True, text=True, check=True).stdout
        assert "late" in after  # while it still runs: from its rings
        from rlscope.opening import load

        with load(directory) as trace:
            calls = """
                SELECT count(*) FROM operation_instance JOIN operation USING (operation_id)
                WHERE name = 'late'
            """
            assert list(trace.sql(calls)) == [(1000,)]
    finally:
        os.kill(pid, signal.SIGKILL)


def test_child_that_ends_soon_is_awaited(traced: TracedPython, directory: str) -> None:
    result = traced.run("-o", directory, "sh", "-c", "sleep 0.3 <&- >&- 2>&- &")
    assert result.returncode == 0
    assert "still running" not in result.stderr


def test_profiler_under_the_profiler(traced: TracedPython, tmp_path: Path) -> None:
    outer, inner = str(tmp_path / "outer"), str(tmp_path / "inner")
    program = """
import time
import rlscope as rls
while time.process_time() < 0.3:
    with rls.operation("x"):
        pass
"""
    nested = traced.command("-o", inner, traced.python, "-c", program)
    result = traced.run("-o", outer, *nested)
    assert result.returncode == 0
    assert "cannot" not in result.stderr
    from rlscope._trace import Directory

    (wrapper,) = Directory(outer).processes
    (process,) = Directory(inner).processes
    assert (wrapper["events"], process["events"] > 0) == (0, True)


def test_an_end_that_another_thread_was_told_of_is_seen() -> None:
    """A thread from before block_signals() takes SIGCHLD while the timer works."""
    program = """
import os, threading, time
from rlscope.record import child

threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
mask = child.block_signals()
program = child.Child("/bin/true", ["true"], os.environ, mask)

class Timer:
    turns = 0
    def seconds_left(self):
        return 0.1 if self.turns else 0
    def run_due(self):
        self.turns += 1
        time.sleep(0.5)  # the program ends meanwhile

assert program.wait(Timer()).status == 0
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
