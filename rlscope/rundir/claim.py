"""DIR/claim.<n>: which process records into a trace directory. The highest number counts.

A process claims a directory before it writes anything else there, and in one step of which the file
system lets one process alone succeed: the claim appears under its name with all of its text. The
claim of a process that is gone is never overwritten; the next process makes the claim with the next
number, which again only one can:

    claim.7    of a process that is gone
    claim.8    of the process that records

So no lock is held, which a network file system may not know, and there is no moment at which two
processes can both believe that the directory is theirs.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator

from rlscope.errors import DirectoryInUse
from rlscope.rundir.process_identity import Holder, parse, this_process
from rlscope.rundir.regular_files import LINKS_REFUSED

TEMPORARY = r"claim\.[0-9a-f]{16}\.tmp"  # of a process that died while it made a claim
_NAME = re.compile(r"claim\.(\d+)")

# A holder on another machine or in another container cannot be looked up. It is taken to be gone
# when its run has shown no sign of life for so long; a drainer gives one every ten seconds
# (csrc/trace/drain/control_page.h).
_SILENCE_SECONDS = 60.0
# Where the file system has no hard links a claim is empty for a moment.
_EMPTY_SECONDS = 1.0
_POLL_SECONDS = 0.01
_LARGEST = 4096  # bytes of a claim


class Claim:
    """The claim of this process to a directory."""

    def __init__(self, directory: str, number: int) -> None:
        self.directory = directory
        self._number = number
        self._holder = this_process()
        self._identity = _identity(directory)

    def settle(self) -> None:
        """Removes the claims before this one: nothing of their runs is left."""
        for number in _numbers(self.directory):
            if number < self._number:
                _unlink(_path(self.directory, number))

    def withdraw(self) -> None:
        """Removes the claim: the directory is as it was before."""
        if self.is_ours():
            _unlink(_path(self.directory, self._number))

    def release(self) -> None:
        """Says in the claim that this process records no more."""
        if not self.is_ours():
            return
        released = this_process(released=True)
        with contextlib.suppress(OSError), _written(self.directory, released) as path:
            os.replace(path, _path(self.directory, self._number))

    def is_ours(self) -> bool:
        """False in a fork child, where another process has claimed the directory since, and where
        another directory has its path by now."""
        with contextlib.suppress(OSError):
            return (
                this_process() == self._holder
                and _identity(self.directory) == self._identity
                and max(_numbers(self.directory), default=0) == self._number
            )
        return False


def take(directory: str) -> Claim:
    """Claims a directory for this process.

    Raises:
        DirectoryInUse: a process records into it.
        OSError: it cannot be written, or is not there.
    """
    number = _make_next(directory)
    claim = Claim(directory, number)
    try:
        # A process that looked long ago may make a claim whose number is out of order.
        for other in _numbers(directory):
            if other != number:
                _refuse_living(directory, other)
    except BaseException:
        claim.withdraw()
        raise
    return claim


def is_claim(name: str) -> bool:
    """Whether a file of this name in a trace directory is a claim."""
    return _NAME.fullmatch(name) is not None


def forget(directory: str) -> None:
    """Removes every claim: the run that was recorded there is over, and removed."""
    for number in _numbers(directory):
        _unlink(_path(directory, number))


def check(directory: str) -> int:
    """The number of the claim that counts, of a process that is gone; 0: there is none.

    Raises:
        DirectoryInUse: a process records into the directory.
    """
    last = max(_numbers(directory), default=0)
    if last:
        _refuse_living(directory, last)
    return last


def _make_next(directory: str) -> int:
    """Makes the claim that follows the last one; returns its number."""
    while True:
        last = check(directory)
        with _written(directory, this_process()) as path:
            if _give_name(path, _path(directory, last + 1)):
                return last + 1


def _refuse_living(directory: str, number: int) -> None:
    holder = _read(directory, number)
    if holder is not None and _records(directory, number, holder):
        raise DirectoryInUse(
            f"directory holds a run that is still going ({holder.describe()}), "
            f"choose another: {directory}"
        )


def _records(directory: str, number: int, holder: Holder) -> bool:
    """Whether the holder still records, as far as this machine can find out."""
    if holder.released:
        return False
    if holder.is_visible():
        return holder.lives()
    control = os.path.join(directory, "rings", "control")
    sign = max(_modified(_path(directory, number)), _modified(control))
    return _file_system_time(directory) - sign < _SILENCE_SECONDS


def _read(directory: str, number: int) -> Holder | None:
    """The process that a claim names; None: the claim is gone, or was never finished.

    Raises:
        DirectoryInUse: a process is making it, which is not named yet.
    """
    deadline = time.monotonic() + _EMPTY_SECONDS
    while True:
        try:
            return parse(_text(_path(directory, number)))
        except FileNotFoundError:
            return None
        except ValueError:
            if time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
                continue
        if _file_system_time(directory) - _modified(_path(directory, number)) > _SILENCE_SECONDS:
            return None
        raise DirectoryInUse(f"directory is claimed by another process: {directory}")


def _text(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, encoding="utf-8", errors="replace") as file:
        return file.read(_LARGEST)


def _give_name(path: str, name: str) -> bool:
    """Makes a written file a claim; False: another process was first."""
    try:
        os.link(path, name)
        return True
    except (FileExistsError, FileNotFoundError):  # not found: removed by the process that was first
        return False
    except OSError as error:
        if error.errno not in LINKS_REFUSED:
            raise
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(_text(path))
    return True


@contextlib.contextmanager
def _written(directory: str, holder: Holder) -> Iterator[str]:
    """The path of a new file that names `holder`; removed afterwards."""
    path = os.path.join(directory, f"claim.{os.urandom(8).hex()}.tmp")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(holder.write())
        yield path
    finally:
        _unlink(path)


def _file_system_time(directory: str) -> float:
    """Now, by the clock that dates the files of the directory: a server's, maybe."""
    with _written(directory, this_process()) as path:
        return _modified(path)


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _identity(directory: str) -> tuple[int, int]:
    status = os.stat(directory)
    return status.st_dev, status.st_ino


def _numbers(directory: str) -> list[int]:
    found = (_NAME.fullmatch(name) for name in os.listdir(directory))
    return [int(match[1]) for match in found if match]


def _path(directory: str, number: int) -> str:
    return os.path.join(directory, f"claim.{number}")


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
