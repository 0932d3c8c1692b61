"""A directory for a new run: claimed before a thing is written there, cleared of an old run."""

import contextlib
import os

from rlscope.errors import DirectoryInUse, RecordingError
from rlscope.rundir import claim, regular_files
from rlscope.rundir.old_run import check_room, living_processes, remove_run

_TRIES = 10  # to make a directory that others remove


class RunDirectory:
    """A directory that this process has claimed for a run; a path wherever one is asked for."""

    def __init__(self, path: str, held: claim.Claim, made: bool, beside: list[str]) -> None:
        self.path = path
        """Absolute, symbolic links resolved."""
        self.beside = beside
        """Names of somebody else's files, in a directory that held no run before."""
        self._claim = held
        self._made = made
        self._descriptor = -1
        self._identity = _identity(path)

    def __fspath__(self) -> str:
        return self.path

    def follow(self) -> None:
        """From now on `found` knows the directory by a descriptor, also after it was renamed."""
        self._descriptor = os.open(self.path, os.O_PATH | os.O_DIRECTORY)

    @property
    def place(self) -> str:
        """A path of the directory that stays right for this process while the directory is
        followed."""
        return f"/proc/self/fd/{self._descriptor}" if self._descriptor >= 0 else self.path

    def found(self) -> str:
        """Where the directory is now; empty: it was removed, or it was not followed."""
        path = self.path
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                path = os.readlink(self.place)
        with contextlib.suppress(OSError):
            if _identity(path) == self._identity:
                return path
        return ""

    def abandon(self) -> None:
        """The run cannot begin: removes what it has left so far, the directory if it was made for
        it, and the claim."""
        if not self._claim.is_ours():
            return
        remove_run(self.path)
        for name in ("trace", "rings"):  # without a file of ours they stay
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(self.path, name))
        self._claim.withdraw()
        if self._made:
            with contextlib.suppress(OSError):  # somebody else's files are in it
                os.rmdir(self.path)

    def release(self) -> None:
        """The run is over, but for processes that outlive it: those hold the directory further."""
        path = self.found()
        if path and set(living_processes(path)) <= {os.getpid()}:
            self._claim.directory = path
            self._claim.release()


def prepare_directory(
    path: str | os.PathLike[str], *, force: bool = False, made: bool = False
) -> RunDirectory:
    """Claims `path` for a new run and makes it ready.

    Creates it with its folders `trace` and `rings`. A directory that holds other people's files
    is fine; one that holds a run of ours is refused, or with `force` that run is removed first.

    Args:
        made: the caller has just made the directory, for this run.

    Raises:
        DirectoryInUse: it holds a run and `force` is not set, or a process of that run lives.
        RecordingError: it cannot be created or written.
    """
    directory = os.path.realpath(path)
    try:
        now_made, held = _take(directory, force)
        try:
            held_run = check_room(directory, force)
            if held_run:
                remove_run(directory)
            beside = [] if held_run else _foreign_names(directory)
            held.settle()
            _make_folder(directory, "trace", 0o777)
            _make_folder(directory, "rings", 0o700)
        except BaseException:
            held.withdraw()
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        if os.path.exists(directory) and not os.path.isdir(directory):
            reason = "it is a file, not a folder"
        raise RecordingError(f"cannot record into {directory}: {reason}") from error
    return RunDirectory(directory, held, made or now_made, beside)


def _foreign_names(directory: str) -> list[str]:
    return sorted(
        name
        for name in os.listdir(directory)
        if not name.startswith(".") and not claim.is_claim(name)
    )


def discard(path: str) -> None:
    """Removes a finished run whose folder was made for it, and the folder around it if it is
    empty then."""
    remove_run(path)
    claim.forget(path)
    for folder in (*(os.path.join(path, name) for name in ("trace", "rings")), path):
        with contextlib.suppress(OSError):  # somebody else's files are in it
            os.rmdir(folder)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(path))


def _make_folder(directory: str, name: str, mode: int) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(os.path.join(directory, name), mode)
    with regular_files.folder(directory, name):  # else it is a link, through which nothing is read
        pass


def _take(directory: str, force: bool) -> tuple[bool, claim.Claim]:
    """Whether the directory had to be made, and the claim to it."""
    for _ in range(_TRIES):
        with contextlib.suppress(FileNotFoundError):  # its maker could not begin, and removed it
            return _take_now(directory, force)
    return _take_now(directory, force)


def _take_now(directory: str, force: bool) -> tuple[bool, claim.Claim]:
    """What must be refused is refused before there is a claim, which others would take for a run's.

    Raises:
        FileNotFoundError: the directory was removed meanwhile.
    """
    made = _is_made(directory)
    try:
        check_room(directory, force)
    except DirectoryInUse:
        claim.check(directory)  # what is in the way may belong to a run that begins now
        raise
    return made, claim.take(directory)


def _is_made(directory: str) -> bool:
    """Makes the directory; False if it was there."""
    there = os.path.isdir(directory)
    os.makedirs(directory, exist_ok=True)
    return not there


def _identity(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino
