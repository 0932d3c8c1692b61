"""The process that records into a directory, as other processes find it named there."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, fields

from rlscope.rundir.proc import process_start_time


@dataclass(frozen=True)
class Holder:
    """A process of some machine, maybe of some container on it."""

    host: str
    boot_id: str
    pid_namespace: int
    pid: int
    start_time: int
    """Field 22 of /proc/<pid>/stat: distinguishes a recycled pid from this one."""
    released: bool = False
    """It records no more."""

    def is_visible(self) -> bool:
        """Whether its pid means something here: same boot of the machine, same container."""
        return (self.boot_id, self.pid_namespace) == (_boot_id(), _pid_namespace())

    def lives(self) -> bool:
        """Whether it runs; only of a visible one."""
        return process_start_time(self.pid) == self.start_time

    def describe(self) -> str:
        """The process as a sentence names it."""
        if self.is_visible():
            return f"pid {self.pid}"
        if self.boot_id == _boot_id():
            return f"pid {self.pid} in another container of this machine"
        return f"pid {self.pid} on {self.host}"

    def write(self) -> str:
        """Its text in a file."""
        return json.dumps(asdict(self)) + "\n"


def this_process(*, released: bool = False) -> Holder:
    """The calling process."""
    pid = os.getpid()
    start_time = process_start_time(pid) or 0
    return Holder(platform.node(), _boot_id(), _pid_namespace(), pid, start_time, released)


def parse(text: str) -> Holder:
    """The process that a file names.

    Raises:
        ValueError: it names none.
    """
    facts = json.loads(text)
    if not isinstance(facts, dict):
        raise ValueError("not a process")
    try:
        return Holder(**{field.name: facts[field.name] for field in fields(Holder)})
    except KeyError as error:
        raise ValueError("not a process") from error


def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _pid_namespace() -> int:
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0
