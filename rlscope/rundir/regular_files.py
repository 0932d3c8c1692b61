"""Files of a directory that may come from a stranger: the one way in which they are opened.

A name is relative to the directory ("tables/lock"). No symbolic link below the directory is
followed, whether it stands for a folder or for the file; only regular files are opened, because a
FIFO waits for its other end and a device may have none; and no more is read than the caller allows.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# Where the file system has no hard links, or no more of them.
LINKS_REFUSED = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO must not wait.
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@contextmanager
def folder(root: str | os.PathLike[str], name: str = "", *, make: bool = False) -> Iterator[int]:
    """A descriptor of a folder below `root`, to be named as dir_fd; good for nothing else.

    Raises OSError: it is not there (and not to be made), or is no folder.
    """
    descriptor = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in name.split("/") if name else ():
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            outer, descriptor = descriptor, os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(outer)
        yield descriptor
    finally:
        os.close(descriptor)


def statuses(root: str | os.PathLike[str], name: str = "") -> dict[str, os.stat_result]:
    """What lies in a folder below `root`, by name, in order; links themselves, not what they name.

    Raises OSError: it is not there, or is no folder.
    """
    with folder(root, name) as above:
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)
    try:
        found: dict[str, os.stat_result] = {}
        for entry in sorted(os.listdir(listed)):
            with suppress(FileNotFoundError):  # removed meanwhile
                found[entry] = os.stat(entry, dir_fd=listed, follow_symlinks=False)
        return found
    finally:
        os.close(listed)


def open_file(root: str | os.PathLike[str], name: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file; with O_CREAT in `flags` it is made, readable by all.

    Raises OSError: it is not there, or is no regular file.
    """
    inside, _, last = name.rpartition("/")
    with folder(root, inside) as above:
        descriptor = os.open(last, flags | _FILE, 0o666, dir_fd=above)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file", name)
    return descriptor


def size(root: str | os.PathLike[str], name: str) -> int:
    """How many bytes a file has. Raises OSError as open_file() does."""
    descriptor = open_file(root, name)
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def read_start(root: str | os.PathLike[str], name: str, most: int, start: int = 0) -> bytes:
    """At most `most` bytes of a file, from byte `start`. Raises OSError."""
    with os.fdopen(open_file(root, name), "rb") as file:
        left = os.fstat(file.fileno()).st_size - start
        if left <= 0:
            return b""
        file.seek(start)
        return file.read(min(most, left))


def read(root: str | os.PathLike[str], name: str, most: int) -> bytes:
    """A whole file. Raises OSError, also when it is longer than `most` bytes."""
    with os.fdopen(open_file(root, name), "rb") as file:
        data = file.read(most) if os.fstat(file.fileno()).st_size <= most else b""
        if file.read(1):
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), name)
    return data


def append(root: str | os.PathLike[str], name: str, data: bytes) -> int:
    """Adds to the end of a file, which is made if it is not there; returns how many bytes were
    written. Raises OSError."""
    descriptor = open_file(root, name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        return os.write(descriptor, data)
    finally:
        os.close(descriptor)


def status(root: str | os.PathLike[str], name: str) -> os.stat_result:
    """The status of a regular file, below folders that are no symbolic links.

    Raises OSError: it is not there, or is no regular file.
    """
    parts = name.split("/")
    for count in range(1, len(parts)):
        if not stat.S_ISDIR(os.lstat(os.path.join(root, *parts[:count])).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
    found = os.lstat(os.path.join(root, name))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", name)
    return found


def replace(root: str | os.PathLike[str], name: str, data: bytes) -> None:
    """Writes a file under another name and renames it: no reader ever sees half of one.

    Raises OSError.
    """
    inside, _, last = name.rpartition("/")
    unfinished = unfinished_name(f".{last}")
    with folder(root, inside) as above:
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE
            with os.fdopen(os.open(unfinished, flags, 0o666, dir_fd=above), "wb") as file:
                file.write(data)
            os.replace(unfinished, last, src_dir_fd=above, dst_dir_fd=above)
        except BaseException:
            with suppress(OSError):
                os.unlink(unfinished, dir_fd=above)
            raise


def unfinished_name(name: str) -> str:
    """A name for a file in the making; it cannot be guessed, so no link of that name lies there."""
    return f"{name}.{secrets.randbits(63)}.tmp"
