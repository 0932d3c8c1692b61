"""Finds descendants of the program that nothing records, and keeps how long they ran.

A process of the run is one whose parent is. It has the recorder if its memory maps librlscope.so
and its environment has RLSCOPE_DIR, or if it announced itself in processes.log. An exec makes a
process another program, which is looked at anew. A process that two looks in a row find without
the recorder is a row of DIR/unrecorded.jsonl; one that is over before that is not found.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from rlscope.record.interpreters import InterpreterWatch, Sighting
from rlscope.record.processes import Image, ProcessLog, has_recorder
from rlscope.rundir import proc, unrecorded_file
from rlscope.rundir.proc import Stat, last_pid, process_stat
from rlscope.rundir.run_json import mask_secrets
from rlscope.rundir.unrecorded_file import Unrecorded

Say = Callable[[str], None]

_MOST = 1000
"""Processes that are kept."""
_SPOKEN_CPU_NS = 500_000_000
"""CPU time of a program that is worth a line on the terminal."""
_MOST_LINES = 3
_PATIENCE = 100
"""A look takes at most one part in so many of a CPU's time."""
_FORGET_LOOKS = 40
"""After so many looks, pids that are not of the run are looked at again: the kernel uses a pid
again after thousands of others."""
_VARIABLES = ("RLSCOPE_DIR", "LD_PRELOAD")


@dataclass
class _Seen:
    """A process of the run, as the last look saw it."""

    stat: Stat
    seen_ns: int
    began_ns: int
    """When its program began: with the process, or by an exec after the look before."""
    cpu_before_ns: int = 0
    """CPU time of the process before that exec."""
    is_recorded: bool | None = None
    """None: one look is not enough to know."""
    row: Unrecorded | None = None


class UnrecordedWatch:
    """Looked at again and again by one thread."""

    def __init__(
        self,
        place: str,
        directory: str,
        log: ProcessLog,
        root: Image,
        say: Say,
    ) -> None:
        """
        Args:
            place: path by which the trace directory can be written.
            directory: absolute path of the trace directory.
            log: of the run; somebody else updates it.
            root: the program's process.
            say: prints one line.
        """
        self._place = place
        self._directory = directory
        self._log = log
        self._root = root
        self._say = say
        self._family: dict[int, _Seen] = {}
        self._foreign: set[int] = set()
        self._looks = 0
        self._last_pid: bytes | None = None
        self._due = 0.0
        self._said: dict[str, str] = {}
        self._kept = 0
        own = process_stat(os.getpid())
        self._own_parent = own.parent if own else 0
        self._group = (own.group, own.session) if own else (0, 0)
        self._boot_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()

    def look(self) -> None:
        """Takes in what runs; a look that would cost more than it may is left out."""
        if time.monotonic() >= self._due:
            begun = time.thread_time()
            self._look()
            self._due = time.monotonic() + _PATIENCE * (time.thread_time() - begun)

    def finish(self, interpreters: InterpreterWatch | None) -> list[str]:
        """Keeps what is known at the end; returns a line for each program that was named."""
        now = time.monotonic_ns()
        self._look()
        for seen in self._family.values():
            if seen.row is not None:
                self._keep(seen, now)
        for sighting, reason, remedy in interpreters.without_layer() if interpreters else ():
            self._append(_without_layer(sighting, now, reason, remedy))
        return [*self._said.values()][:_MOST_LINES]

    def _look(self) -> None:
        now = time.monotonic_ns()
        self._looks += 1
        if self._looks % _FORGET_LOOKS == 0:
            self._foreign.clear()
        stats = self._stats()
        for pid in list(self._family):
            known = self._family[pid]
            if pid not in stats or stats[pid].start_time != known.stat.start_time:
                self._end(self._family.pop(pid), now)
        new = {pid: stat for pid, stat in stats.items() if pid not in self._family}
        for pid in stats.keys() - new.keys():
            self._look_again(self._family[pid], stats[pid], now)
        while ours := [pid for pid, stat in new.items() if self._is_ours(pid, stat)]:
            for pid in ours:
                stat = new.pop(pid)
                self._family[pid] = _Seen(stat, now, self._began_ns(pid, stat))
        self._foreign |= new.keys()
        for pid, seen in self._family.items():
            if seen.row is not None:
                self._speak(pid, seen)

    def _stats(self) -> dict[int, Stat]:
        """The run's processes that live, and others that were not looked at before, by pid."""
        stats = (process_stat(pid) for pid in self._candidates())
        return {stat.pid: stat for stat in stats if stat is not None and stat.is_alive}

    def _candidates(self) -> list[int]:
        """To list all processes costs more than to look at the run's, and is left out where no
        process has begun since the last time."""
        last = last_pid()
        if last is not None and last == self._last_pid and self._foreign:
            return list(self._family)
        self._last_pid = last
        return [pid for pid in _running_pids() if pid not in self._foreign]

    def _is_ours(self, pid: int, stat: Stat) -> bool:
        """A parent may end before its child is seen: an orphan of our process group is the
        program's. What the shell started beside us has the shell as its parent.
        """
        if pid == self._root.pid or stat.parent in self._family:
            return True
        is_younger = stat.start_time >= self._root.start_time
        is_orphan = stat.parent == 1 != self._own_parent
        return is_younger and is_orphan and (stat.group, stat.session) == self._group

    def _began_ns(self, pid: int, stat: Stat) -> int:
        """When the program that is seen for the first time began.

        A process that announced itself before may have executed another program since.
        """
        ticks_ns = stat.start_time * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        announced = (
            image.began_ns
            for image in self._log.latest()
            if (image.pid, image.start_time) == (pid, stat.start_time)
        )
        return max(ticks_ns - self._boot_ns, *announced, 0)

    def _look_again(self, seen: _Seen, stat: Stat, now: int) -> None:
        if stat.image != seen.stat.image:  # an exec
            self._end(seen, now)
            before = seen.stat.cpu_ns
            self._family[stat.pid] = _Seen(stat, now, seen.seen_ns, before)
            return
        seen.stat, seen.seen_ns = stat, now
        if seen.is_recorded is None:
            seen.row = self._judge(seen)
            seen.is_recorded = seen.row is None
            if seen.row is not None:
                self._keep(seen, now)

    def _judge(self, seen: _Seen) -> Unrecorded | None:
        """The process as a row; None: it is recorded here, or is gone."""
        pid = seen.stat.pid
        variables = _variables(pid)
        recorder = has_recorder(pid)
        directory = variables.get("RLSCOPE_DIR", "") if variables is not None else ""
        sighting = Sighting(Image(pid, seen.stat.parent, seen.stat.start_time, 0, "", forked=False))
        sighting.refresh()
        if not sighting.arguments or _is_wrapper(sighting.arguments):
            return None
        kind = unrecorded_file.NO_RECORDER
        if directory and not self._is_here(directory):
            kind = unrecorded_file.ELSEWHERE
            reason, remedy = f"another rls-prof records it into {directory}", ""
        elif recorder and (directory or self._is_announced(seen)):
            return None
        elif (parent := self._row_of(seen.stat.parent)) is not None:
            reason, remedy = parent.reason, parent.remedy  # it passes its environment on
        else:
            reason, remedy = _explain(variables, sighting)
        return Unrecorded(
            os_pid=pid,
            parent_os_pid=seen.stat.parent,
            start_ns=seen.began_ns,
            end_ns=seen.seen_ns,
            cpu_ns=0,
            program=_program(sighting),
            kind=kind,
            reason=reason,
            remedy=remedy,
        )

    def _row_of(self, pid: int) -> Unrecorded | None:
        """What a process is that runs without a recorder."""
        row = self._family[pid].row if pid in self._family else None
        return row if row is not None and row.kind == unrecorded_file.NO_RECORDER else None

    def _is_here(self, directory: str) -> bool:
        return os.path.realpath(directory) == self._directory

    def _is_announced(self, seen: _Seen) -> bool:
        key = seen.stat.pid, seen.stat.start_time
        return any((image.pid, image.start_time) == key for image in self._log.latest())

    def _end(self, seen: _Seen, now: int) -> None:
        """It ended between the last look and this one."""
        if seen.row is not None:
            self._keep(seen, (seen.seen_ns + now) // 2)

    def _keep(self, seen: _Seen, end_ns: int) -> None:
        if seen.row is None:
            return
        cpu_ns = max(0, seen.stat.cpu_ns - seen.cpu_before_ns)
        seen.row = replace(seen.row, end_ns=end_ns, cpu_ns=cpu_ns)
        self._append(seen.row)

    def _append(self, row: Unrecorded) -> None:
        if self._kept < _MOST:
            unrecorded_file.append(self._place, row)
            self._kept += 1

    def _speak(self, pid: int, seen: _Seen) -> None:
        row = seen.row
        cpu_ns = seen.stat.cpu_ns - seen.cpu_before_ns
        if row is None or not row.remedy or row.remedy in self._said or cpu_ns < _SPOKEN_CPU_NS:
            return
        line = f"{row.program} (pid {pid}) is not recorded: {row.reason}. {row.remedy}"
        self._said[row.remedy] = line
        if len(self._said) <= _MOST_LINES:
            self._say(line)


def _running_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _without_layer(sighting: Sighting, now: int, reason: str, remedy: str) -> Unrecorded:
    image = sighting.image
    return Unrecorded(
        os_pid=image.pid,
        parent_os_pid=image.parent_pid,
        start_ns=image.began_ns,
        end_ns=max(image.ended_ns or now, image.began_ns),
        cpu_ns=0,
        program=_program(sighting),
        kind=unrecorded_file.NO_PYTHON_LAYER,
        reason=reason,
        remedy=f"{remedy[:1].upper()}{remedy[1:]}.",
    )


def _program(sighting: Sighting) -> str:
    """Its command line, with the name of its file instead of a path."""
    words = mask_secrets(sighting.arguments) or [sighting.image.comm]
    return " ".join([os.path.basename(words[0]) or words[0], *words[1:]])


def _explain(variables: dict[str, str] | None, sighting: Sighting) -> tuple[str, str]:
    """Why the recorder is not in it, and what mends that."""
    if variables is None:
        return "it runs as another user", ""
    missing = [name for name in _VARIABLES if name not in variables]
    if not missing:
        return "the recorder is not in it, because it is linked statically, or setuid", ""
    command = [sighting.interpreter, *mask_secrets(sighting.arguments)[1:]]
    return (
        f"its environment lacks {' and '.join(missing)}",
        f"To record it, start it as {shlex.join([*own_command(), *command])}, or let its "
        f"environment keep {' and '.join(_VARIABLES)}.",
    )


def own_command() -> list[str]:
    """rls-prof as a program can start it whatever its environment."""
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script) == "rls-prof" and os.access(script, os.X_OK):
        return [script]
    return [sys.executable, "-m", "rlscope", "prof"]


def _is_wrapper(arguments: list[str]) -> bool:
    """Whether it is rls-prof, which records what it starts and not itself."""
    names = [os.path.basename(argument) for argument in arguments[:4]]
    return "rls-prof" in names[:2] or names[1:] == ["-m", "rlscope", "prof"]


def _variables(pid: int) -> dict[str, str] | None:
    """Its environment as it began; None: it may not be read."""
    try:
        words = os.fsdecode(proc.read(f"/proc/{pid}/environ")).split("\0")
    except OSError:
        return None
    pairs = (word.partition("=") for word in words if "=" in word)
    return {name: value for name, _, value in pairs}
