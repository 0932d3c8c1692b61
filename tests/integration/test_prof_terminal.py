"""rls-prof on a terminal: Ctrl-C, Ctrl-\\, Ctrl-Z and fg behave as without it."""

import contextlib
import os
import pty
import select
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from support.process.traced_python import TracedPython

pytestmark = pytest.mark.usefixtures("clean_environment")

# A shell with job control and one job: runs argv[3:] in a process group of its own, in the
# foreground; writes to descriptor argv[1] when it stops or ends; a byte on argv[2] means `fg`.
_SHELL = """
import os, signal, sys
report, orders = int(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[3], sys.argv[3:])
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        os.write(report, b"ended %d\\n" % status)
        break
    os.write(report, b"stopped %d\\n" % os.WSTOPSIG(status))
    os.read(orders, 1)
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
"""


@dataclass
class Terminal:
    """A pseudo terminal with the shell on it."""

    shell: int
    screen: int
    report: int
    orders: int
    text: str = ""

    def type(self, keys: str) -> None:
        os.write(self.screen, keys.encode())

    def read_until(self, expected: str) -> None:
        """Reads the screen until it shows `expected` after what was read before."""
        deadline = time.monotonic() + 30
        while expected not in self.text:
            assert time.monotonic() < deadline, self.text
            if select.select([self.screen], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    self.text += os.read(self.screen, 4096).decode().replace("\r\n", "\n")
        self.text = self.text.partition(expected)[2]

    def shell_says(self) -> str:
        """The shell's next report; what the job prints meanwhile is kept."""
        deadline = time.monotonic() + 30
        while not select.select([self.report], [], [], 0.05)[0]:
            assert time.monotonic() < deadline, self.text
            if select.select([self.screen], [], [], 0)[0]:
                self.text += os.read(self.screen, 4096).decode().replace("\r\n", "\n")
        return os.read(self.report, 100).decode().strip()

    def foreground(self) -> None:
        os.write(self.orders, b"x")


@contextlib.contextmanager
def terminal(command: list[str]) -> Iterator[Terminal]:
    report_out, report_in = os.pipe()
    orders_out, orders_in = os.pipe()
    pid, screen = pty.fork()
    if pid == 0:
        os.set_inheritable(report_in, True)
        os.set_inheritable(orders_out, True)
        arguments = ["-c", _SHELL, str(report_in), str(orders_out), *command]
        os.execv(sys.executable, [sys.executable, *arguments])
    os.close(report_in)
    os.close(orders_out)
    try:
        yield Terminal(pid, screen, report_out, orders_in)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        for descriptor in (screen, report_out, orders_in):
            os.close(descriptor)


_PROGRAM = """
import os, signal, sys, time
def note(number, frame):
    # Not print(): it may be what the signal interrupts.
    os.write(1, f"got {signal.Signals(number).name}\\n".encode())
    if number != signal.SIGCONT:
        count.append(number)
count = []
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), note)
print("ready", flush=True)
while not count:
    time.sleep(0.02)
time.sleep(0.3)
print("signals", len(count), flush=True)
sys.exit(5)
"""


@pytest.mark.parametrize(("key", "name"), [("\x03", "SIGINT"), ("\x1c", "SIGQUIT")])
def test_key_reaches_the_program_once(
    traced: TracedPython, directory: str, key: str, name: str
) -> None:
    command = traced.command("-o", directory, sys.executable, "-c", _PROGRAM, name)
    with terminal(command) as screen:
        screen.read_until("ready\n")
        screen.type(key)
        screen.read_until(f"got {name}\n")
        screen.read_until("signals 1\n")
        assert screen.shell_says() == f"ended {5 << 8}"
        screen.read_until("rls-prof: the program exited with code 5\n")
        assert "KeyboardInterrupt" not in screen.text


def test_interrupt_that_kills_the_program_kills_us_alike(
    traced: TracedPython, directory: str
) -> None:
    # No shell: one that is about to start a command may lose the signal.
    sleeper = (
        "import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); "
        "print('ready', flush=True); time.sleep(60)"
    )
    command = traced.command("-o", directory, sys.executable, "-c", sleeper)
    with terminal(command) as screen:
        screen.read_until("ready\n")
        screen.type("\x03")
        assert screen.shell_says() == f"ended {signal.SIGINT}"


def test_stop_and_foreground(traced: TracedPython, directory: str) -> None:
    command = traced.command("-o", directory, sys.executable, "-c", _PROGRAM, "SIGINT", "SIGCONT")
    with terminal(command) as screen:
        screen.read_until("ready\n")
        for _ in range(2):
            screen.type("\x1a")
            assert screen.shell_says() == f"stopped {signal.SIGTSTP}"
            screen.foreground()
            screen.read_until("got SIGCONT\n")
        screen.type("\x03")
        screen.read_until("signals 1\n")
        assert screen.shell_says() == f"ended {5 << 8}"


def test_stop_sent_to_the_wrapper_stops_both(traced: TracedPython, directory: str) -> None:
    program = "print('ready', flush=True); input()"
    with terminal(traced.command("-o", directory, sys.executable, "-c", program)) as screen:
        screen.read_until("ready\n")
        os.kill(_job(screen.shell), signal.SIGTSTP)
        assert screen.shell_says() == f"stopped {signal.SIGTSTP}"
        screen.foreground()
        screen.type("\n")
        assert screen.shell_says() == "ended 0"


def _job(shell: int) -> int:
    with open(f"/proc/{shell}/task/{shell}/children") as file:
        return int(file.read().split()[0])


def test_program_that_reads_the_terminal_keeps_it(traced: TracedPython, directory: str) -> None:
    program = "print('name?', flush=True); print('hello', input())"
    with terminal(traced.command("-o", directory, sys.executable, "-c", program)) as screen:
        screen.read_until("name?\n")
        screen.type("you\n")
        screen.read_until("hello you\n")
        assert screen.shell_says() == "ended 0"
