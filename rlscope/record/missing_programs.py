"""Finds programs that should be in the trace and are not, and names them.

The recorder announces each program in processes.log before its first line. Where it may not write
(a seccomp filter, a dropped privilege, a read-only view of the file system) it stays silent, for
stderr is the program's. So the wrapper looks for programs that have the recorder in their memory
and no record in the log; the command itself is missed whatever the reason, static linking included.
A program over within a second, or executed by a process that was announced before, is not found.
"""

import shlex
from collections.abc import Callable, Sequence

from rlscope.record.processes import Image, ProcessLog, has_recorder, inheritors
from rlscope.rundir import proc
from rlscope.rundir.proc import process_start_time

Say = Callable[[str], None]

_FORGET_LOOKS = 20
"""After so many looks, processes that are older than the program are looked at again: the kernel
uses a pid again after thousands of others."""


class AbsenceWatch:
    """Says once for each program that it is absent. Looked at each second by one thread.

    A program is named when two looks in a row find it: one that has just been executed announces
    itself within milliseconds, but a look may come first.
    """

    def __init__(
        self,
        log: ProcessLog,
        directory: str,
        command: Sequence[str],
        root: Image,
        say: Say,
    ) -> None:
        """
        Args:
            log: of the run; somebody else updates it.
            directory: absolute path of the trace directory.
            command: the program's argument vector, `root` its process as the wrapper started it.
            say: prints one line.
        """
        self._log = log
        self._directory = directory
        self._command = list(command)
        self._root = root
        self._say = say
        self._images: set[bytes] = set()
        self._older: set[int] = set()
        self._looks = 0
        self._suspects: dict[int, bytes] = {}
        self._said: dict[int, str] = {}

    def look(self) -> None:
        """Names the programs that were absent at the last look too."""
        self._looks += 1
        if self._looks % _FORGET_LOOKS == 0:
            self._older.clear()
        announced = {image.pid for image in self._log.running()}
        self._images |= {_image_of(pid) for pid in announced}
        suspects = {}
        found = inheritors(self._directory, announced, self._root.start_time, self._older)
        for process in found:
            image = _image_of(process.pid)
            # A fork child that records nothing writes nothing: it runs the image of its parent.
            if not image or image in self._images or not self._is_ours(process.pid):
                continue
            suspects[process.pid] = image
            if self._suspects.get(process.pid) == image and process.pid not in self._said:
                self._report(process.pid, process.describe())
        self._suspects = suspects

    def finish(self) -> list[str]:
        """A line for each program found, the command among them even if it was over in a moment."""
        announced = {image.pid for image in self._log.latest()}
        if self._root.pid not in announced and self._root.pid not in self._said:
            self._said[self._root.pid] = self._line(self._root.pid, shlex.join(self._command))
        return [line for pid, line in self._said.items() if pid not in announced]

    def _is_ours(self, pid: int) -> bool:
        return pid == self._root.pid or has_recorder(pid)

    def _report(self, pid: int, program: str) -> None:
        self._said[pid] = self._line(pid, program)
        self._say(self._said[pid])

    def _line(self, pid: int, program: str) -> str:
        if not has_recorder(pid) and process_start_time(pid) is not None:
            reason = "the recorder is not in it: it is linked statically, or setuid"
        elif _is_filtered(pid):
            reason = f"a seccomp filter keeps it from writing to {self._directory}"
        else:
            reason = (
                f"the recorder could not write to {self._directory} from it (a sandbox, other"
                " permissions), or was not loaded (static linking, setuid)"
            )
        return f"{program} (pid {pid}) is not in the trace: {reason}"


def _image_of(pid: int) -> bytes:
    """What differs between executed images and is the same in fork children: where the kernel put
    things. Empty when the process is gone or not ours to look at."""
    return _read(pid, "auxv")


def _is_filtered(pid: int) -> bool:
    return b"\nSeccomp:\t2" in _read(pid, "status")


def _read(pid: int, name: str) -> bytes:
    try:
        return proc.read(f"/proc/{pid}/{name}")
    except OSError:
        return b""
