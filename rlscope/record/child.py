"""The program under the profiler: started, followed through signals and stops, and ended alike.

The wrapper stays in the program's process group and on its terminal, so a shell sees one job. It
blocks the signals it cares for and takes them one by one with sigtimedwait, which also reports
their sender: a signal of the terminal reaches the program by itself and must not reach it twice.

    shell            rls-prof                      program
      |--- fork, exec --->|--- posix_spawn ----------->|
      |                   |   terminal: SIGINT ------->|   taken by us, not passed on
      |--- kill TERM ---->|--- kill TERM ------------->|
      |                   |<-- SIGCHLD: stopped -------|   Ctrl-Z
      |<-- we stop too ---|                            |
      |--- SIGCONT ------>|--- SIGCONT -------------->>|   if it is still stopped
      |                   |<-- SIGCHLD: ended ---------|
      |<-- same end ------|
"""

import errno
import importlib
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_STOPS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_TAKEN = frozenset({*FORWARDED, *_STOPS, signal.SIGINT, signal.SIGCONT, signal.SIGCHLD})
# Python ignores these two from its start; a program expects them as its parent's parent had them.
_RESET = (signal.SIGPIPE, signal.SIGXFSZ)

# The kernel reads so much of a script's first line, and follows so many interpreters that are
# scripts themselves: fs/binfmt_script.c, fs/exec.c.
_SCRIPT_LINE = 256
_NESTED_SCRIPTS = 5

SignalMask = set[int | signal.Signals]


class CommandNotFound(Exception):
    """The program cannot be started; `code` is what a shell would exit with, 126 or 127."""

    def __init__(self, command: str, error: int) -> None:
        missing = error in (errno.ENOENT, errno.ENOTDIR)
        self.code = 127 if missing else 126
        reason = "command not found" if missing else os.strerror(error).lower()
        super().__init__(f"{command}: {reason}")


@dataclass(frozen=True)
class Ending:
    """How a program ended and what it used, its waited-for children included."""

    status: int
    """As wait(2) gives it: use os.WIFSIGNALED and its siblings."""
    cpu_ns: int
    """User and system CPU time of the program and the children it waited for."""

    def describe(self) -> str:
        """Empty for a program that exited with 0, else one clause."""
        if os.WIFSIGNALED(self.status):
            return f"the program was killed by {_signal_name(os.WTERMSIG(self.status))}"
        code = os.WEXITSTATUS(self.status)
        return f"the program exited with code {code}" if code else ""


class Timer(Protocol):
    """Work that the wrapper does while the program runs."""

    def seconds_left(self) -> float:
        """Until the next work is due; 0 or less when it is due now."""

    def run_due(self) -> None:
        """Does the work that is due; never raises."""


def resolve(command: str, path: str) -> str:
    """The file that execvp would run for `command` with PATH=`path`.

    Raises:
        CommandNotFound: no such file, or none that may be executed.
    """
    if "/" in command:
        candidates = [command]
    else:
        candidates = [os.path.join(folder or ".", command) for folder in path.split(":")]
    error = errno.ENOENT
    for candidate in candidates:
        if os.path.isfile(candidate):
            if os.access(candidate, os.X_OK):
                return candidate
            error = errno.EACCES
        elif os.path.isdir(candidate) and "/" in command:
            error = errno.EISDIR
    raise CommandNotFound(command, error if command else errno.ENOENT)


def check_interpreter(path: str, command: str) -> None:
    """Looks at the first line of a script, before anything is done for a program that cannot start.

    Raises:
        CommandNotFound: the interpreter that it names is not there, or may not be executed.
    """
    for _ in range(_NESTED_SCRIPTS):
        interpreter = _interpreter_of(path)
        if not interpreter:
            return
        if not os.path.isfile(interpreter):
            raise CommandNotFound(command, errno.ENOENT)
        if not os.access(interpreter, os.X_OK):
            raise CommandNotFound(command, errno.EACCES)
        path = interpreter


def _interpreter_of(path: str) -> str:
    """The program in a script's line `#!...`; empty for other programs, or one not readable."""
    try:
        with open(path, "rb") as file:
            line = file.readline(_SCRIPT_LINE)
    except OSError:
        return ""
    words = line[2:].split() if line.startswith(b"#!") else []
    return os.fsdecode(words[0]) if words else ""


class Child:
    """The running program. All methods are for the thread that started it."""

    def __init__(
        self, path: str, arguments: Sequence[str], environ: Mapping[str, str], mask: SignalMask
    ) -> None:
        """Starts `path`; from now on the wrapper's signals are those of the program.

        Args:
            mask: what the program blocks at first: the result of `block_signals`.

        Raises:
            CommandNotFound: the kernel would not execute it.
        """
        self._stopped = False
        self.pid = _spawn(path, arguments, environ, mask)

    def wait(self, timer: Timer) -> Ending:
        """Follows the program to its end, doing the timer's work meanwhile.

        Where threads were started before block_signals(), SIGCHLD may come to one of them while
        the timer works. So the program is looked for at each timeout.
        """
        while True:
            information = signal.sigtimedwait(_TAKEN, max(0.0, timer.seconds_left()))
            ending = self._reap() if information is None else self._on_signal(information)
            if ending is not None:
                return ending
            timer.run_due()

    def _on_signal(self, information: signal.struct_siginfo) -> Ending | None:
        number = information.si_signo
        if number == signal.SIGCHLD:
            return self._reap()
        if number == signal.SIGCONT:
            self._continue()
        elif self._must_forward(information):
            os.kill(self.pid, number)
        elif number == signal.SIGTSTP and self._stopped:
            self._stop_alike(signal.SIGTSTP)
        return None

    def _must_forward(self, information: signal.struct_siginfo) -> bool:
        """False for what the program has already: sent by itself, or by the terminal to us all."""
        if information.si_pid == self.pid and information.si_code <= 0:
            return False
        from_kernel = information.si_code > 0
        if from_kernel and os.getpgid(self.pid) == os.getpgrp():
            return False
        # An interrupt is the terminal's business: a second one would break the program's clean-up.
        return information.si_signo in FORWARDED or information.si_signo == signal.SIGTSTP

    def _reap(self) -> Ending | None:
        while True:
            flags = os.WNOHANG | os.WUNTRACED | os.WCONTINUED
            pid, status, usage = os.wait4(self.pid, flags)
            if pid == 0:
                return None
            if os.WIFSTOPPED(status):
                self._stopped = True
                if os.WSTOPSIG(status) in _STOPS:
                    self._stop_alike(os.WSTOPSIG(status))
            elif os.WIFCONTINUED(status):
                self._stopped = False
            else:
                return Ending(status, int((usage.ru_utime + usage.ru_stime) * 1e9))

    def _stop_alike(self, number: int) -> None:
        """Stops this process as the program was stopped, so that the shell gets its terminal back.

        A program stopped by a plain SIGSTOP is not followed: only its sender knows when it goes
        on, and would continue the program but not us.
        """
        os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})  # we stop here
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})
        self._continue()

    def _continue(self) -> None:
        """Continues the program if the shell's SIGCONT went to us alone.

        A stop that waits for us is younger than that SIGCONT, which would have discarded it: the
        terminal stopped us all again, and the program stays as it is.
        """
        if self._stopped and _is_stopped(self.pid):
            if signal.SIGTSTP in signal.sigpending():
                return
            os.kill(self.pid, signal.SIGCONT)
        self._stopped = False


def block_signals() -> SignalMask:
    """Takes the signals of this process into our own hands; returns what was blocked before.

    Threads inherit what is blocked: start none before this.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, the kernel would reap the program
    return signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)


def import_quietly(module: str) -> None:
    """Imports a module whose threads stay, such as NumPy's, so that they take no signal.

    For a process that calls block_signals() later: what came to such a thread would end it.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
    try:
        importlib.import_module(module)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def unblock_signals(mask: SignalMask) -> None:
    """Gives the signals back to Python, less those that were meant for the program."""
    while signal.sigtimedwait(_TAKEN, 0) is not None:
        continue
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def let_go_of_streams() -> None:
    """Closes our own stdin and stdout, so that the other ends of pipes see the program's end."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    if null > 1:
        os.close(null)


def hold_standard_descriptors() -> None:
    """Fills a closed 0, 1 or 2, lest a file of ours takes its number and is printed into.

    The program still finds it closed: the filler is closed on exec.
    """
    null = os.open(os.devnull, os.O_RDWR)
    while null <= 2:
        null = os.open(os.devnull, os.O_RDWR)
    os.close(null)


def exit_code(status: int) -> int:
    """The program's exit code; a program that a signal killed takes this process along."""
    if os.WIFSIGNALED(status):
        die_by_signal(os.WTERMSIG(status))
    return os.WEXITSTATUS(status)


def die_by_signal(number: int) -> NoReturn:
    """Ends this process by `number`, without a core file: the program's own is enough."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    os._exit(128 + number)


def _spawn(
    path: str, arguments: Sequence[str], environ: Mapping[str, str], mask: SignalMask
) -> int:
    def spawn(file: str, argv: list[str]) -> int:
        return os.posix_spawn(file, argv, environ, setsigmask=mask, setsigdef=_RESET)

    try:
        return spawn(path, [*arguments])
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise CommandNotFound(arguments[0], error.errno or errno.EIO) from error
    # A script without "#!": as execvp, env and shells do.
    return spawn("/bin/sh", ["/bin/sh", path, *arguments[1:]])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal between SIGRTMIN and SIGRTMAX
        return f"signal {number}"


def _is_stopped(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[:1] == [b"T"]
    except OSError:
        return False
