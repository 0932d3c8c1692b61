"""Follows processes.log: which processes a run has, which of them are Python, which still run."""

import os
from collections.abc import Container, Iterator
from dataclasses import dataclass

from rlscope.rundir import proc, process_log
from rlscope.rundir.proc import process_start_time
from rlscope.rundir.process_log import Event, Record

_LABEL_CHARACTERS = 60


@dataclass
class Image:
    """One executed image of one process: exec and fork each begin a new one."""

    pid: int
    parent_pid: int
    start_time: int
    """Field 22 of /proc/<pid>/stat: distinguishes a recycled pid from this one."""
    began_ns: int
    """CLOCK_MONOTONIC when the recorder in it began; distinguishes images of one pid."""
    comm: str
    forked: bool
    python: str = ""
    """Version of its interpreter, once that has been instrumented."""
    ended_ns: int = 0
    """When it left on an exit path; 0 if it has not."""

    @property
    def runs(self) -> bool:
        """Whether the process lives and is not a zombie; a later exec counts as this one."""
        return self.ended_ns == 0 and process_start_time(self.pid) == self.start_time

    def describe(self) -> str:
        """Its command line, cut to a label; its name at the start if that is gone."""
        try:
            words = os.fsdecode(proc.read(f"/proc/{self.pid}/cmdline")).split("\0")
        except OSError:
            words = []
        return " ".join(words).strip()[:_LABEL_CHARACTERS] or self.comm


class ProcessLog:
    """Reads the log as it grows. One thread at a time."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._offset = 0
        self._namespace = os.stat("/proc/self/ns/pid").st_ino
        self._images: dict[tuple[int, int], Image] = {}

    def update(self) -> list[Image]:
        """Takes in what was appended; returns the images that are new.

        A log that cannot be read holds no news. Processes of other pid namespaces (containers)
        are left out: their pids mean nothing here.
        """
        new = []
        for record in self._records():
            if record.pid_namespace not in (0, self._namespace):
                continue
            key = record.pid, record.began_ns
            image = self._images.get(key)
            if record.event in (Event.BEGAN, Event.FORKED) and image is None:
                self._images[key] = _image_of(record)
                new.append(self._images[key])
            elif record.event == Event.PYTHON and image is not None:
                image.python = record.name.decode("utf-8", "replace")
            elif record.event == Event.ENDED and image is not None:
                image.ended_ns = record.time_ns
        return new

    def latest(self) -> list[Image]:
        """The latest image of each process, in the order in which the processes began."""
        processes = {(image.pid, image.start_time): image for image in self._images.values()}
        return list(processes.values())

    def running(self) -> list[Image]:
        """Latest images of the processes that still run."""
        return [image for image in self.latest() if image.runs]

    def _records(self) -> list[Record]:
        records, self._offset = process_log.read_on(self._directory, self._offset)
        return records


def _image_of(record: Record) -> Image:
    return Image(
        record.pid,
        record.parent_pid,
        record.start_time,
        record.began_ns,
        record.name.decode("utf-8", "replace"),
        forked=record.event == Event.FORKED,
    )


def survivors(directory: str, log: ProcessLog, since: int) -> list[Image]:
    """The processes of the run that still run, also fork children that have not recorded yet.

    A fork child writes its record late or never, but carries the environment of the image that it
    was forked from, and so does what it will execute.

    Args:
        directory: absolute path of the trace directory.
        since: start time of the program; older processes are none of its children.
    """
    log.update()
    found = {image.pid: image for image in log.running()}
    found.update({image.pid: image for image in inheritors(directory, set(found), since)})
    return [found[pid] for pid in sorted(found)]


def inheritors(
    directory: str, known: Container[int], since: int, older: set[int] | None = None
) -> Iterator[Image]:
    """The running processes that have the environment of the run, beside those that are known.

    Args:
        directory: absolute path of the trace directory.
        known: pids to leave out.
        since: start time of the program; older processes are none of its children.
        older: pids that were found to be older: they are left out, and new ones are added.
    """
    variable = b"RLSCOPE_DIR=" + os.fsencode(directory)
    older = set() if older is None else older
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        start = None if pid in known or pid in older else process_start_time(pid)
        if start is not None and start < since:
            older.add(pid)
        elif start is not None and _has_variable(pid, variable):
            yield Image(pid, 0, start, 0, "", forked=True)


def _has_variable(pid: int, assignment: bytes) -> bool:
    try:
        return assignment in proc.read(f"/proc/{pid}/environ").split(b"\0")
    except OSError:
        return False


def has_recorder(pid: int) -> bool:
    """Whether librlscope.so is in the memory of a process; False when it may not be looked at."""
    try:
        return b"/librlscope" in proc.read(f"/proc/{pid}/maps")
    except OSError:
        return False
