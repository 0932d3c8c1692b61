"""Traces of other tools: what an importer is, and what it is given.

Source(path)              a file, decompressed
Importer.recognises(head) is it one of mine, by its first bytes
Importer.scan(source)     read it once -> Scan: what it holds
Scan.write(...)           the process, as a file of rlscope's own format
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol

from rlscope import _trace
from rlscope.errors import RlscopeError

HEAD_BYTES = 64 << 10
"""As much as an importer is shown of a file to recognise it."""
NOTE = "rlscope.imported"
"""Key of a process's metadata: what it was imported from, which rows, and which were not taken."""
# 2001-09-09 and later, in nanoseconds since 1970: what is less is no clock of the world.
_LEAST_REAL_NS = 10**18

_GZIP = b"\x1f\x8b"

Tell = Callable[[float], None]
"""Called with the part of the file that has been read, 0 to 1."""


class Source:
    """A file as its importer reads it: gzip is undone, by content and not by name."""

    def __init__(self, path: str | os.PathLike[str], tell: Tell = lambda _: None) -> None:
        """Raises RlscopeError: it cannot be opened."""
        self.path = Path(path)
        self._tell = tell
        try:
            self._file = open(self.path, "rb")
            self._size = max(os.fstat(self._file.fileno()).st_size, 1)
            is_gzip = self._file.peek(len(_GZIP)).startswith(_GZIP)
        except OSError as error:
            raise RlscopeError(f"cannot read {self.path}: {error.strerror}") from error
        self._content: IO[bytes] = (
            gzip.GzipFile(fileobj=self._file) if is_gzip else self._file  # type: ignore[assignment]
        )

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; empty at the end. Raises RlscopeError: the file is damaged."""
        try:
            content = self._content.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise RlscopeError(f"{self.path} is damaged: {error}") from error
        except OSError as error:
            raise RlscopeError(f"cannot read {self.path}: {error.strerror}") from error
        self._tell(min(self._file.tell() / self._size, 1.0))
        return content

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Scan(Protocol):
    """What one file holds: one process."""

    @property
    def span_ns(self) -> tuple[int, int]:
        """First start and last end of what was taken, by the file's own clock."""

    @property
    def os_pid(self) -> int:
        """0: not known."""

    @property
    def name(self) -> str:
        """Of the program; empty: not known."""

    @property
    def taken(self) -> Mapping[str, int]:
        """Rows that became part of the trace, by category."""

    @property
    def not_taken(self) -> Mapping[str, int]:
        """Rows that did not, by what they are."""

    def notes(self) -> dict[str, object]:
        """What else the file says: JSON values, kept in the process's metadata by their keys."""

    def write(
        self, path: str, *, start_time: int, shift_ns: int, metadata: Mapping[str, str]
    ) -> None:
        """Writes the process; `shift_ns` is added to every time. Raises OSError."""


@dataclass(frozen=True)
class Importer:
    """One kind of file."""

    title: str
    """What the files are, for users: torch.profiler (Kineto), JSON or JSON.gz."""
    recognises: Callable[[bytes], bool]
    """Whether a file is of this kind, by its first HEAD_BYTES bytes."""
    scan: Callable[[Source, _trace.SpillFile], Scan]
    """Reads a file. Raises RlscopeError: it is damaged, or nothing in it can be taken."""


def has_real_clock(scan: Scan) -> bool:
    """Whether the file's times are those of the world, so that files of one job can be aligned."""
    return scan.span_ns[0] >= _LEAST_REAL_NS
