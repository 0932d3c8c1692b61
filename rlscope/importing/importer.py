"""Traces of other tools: what an importer is, and what it is given.

Source(path)              a file, decompressed
Importer.recognises(head) is it one of mine, by its first bytes
Importer.scan(source)     read it once -> a Scan for each process: what it holds
Scan.write(...)           the process, as a file of rlscope's own format
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

from rlscope import _trace
from rlscope.errors import RlscopeError
from rlscope.relations.rows import cuda_rows

HEAD_BYTES = (64 << 10, 1 << 20, 4 << 20)
"""As much as importers are shown of a file to recognise it: more each time, if they do not yet."""
OPERATIONS = "operations"
"""Key of a process's metadata: which of the names that the user called operations it has."""
# 2001-09-09 and later, in nanoseconds since 1970: what is less is no clock of the world.
_LEAST_REAL_NS = 10**18
# A span of more is not that of one recording, but of a damaged time.
_LONGEST_NS = 366 * 24 * 3600 * 10**9

_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_GPU = "the imported file has no row of GPU work"

Tell = Callable[[float], None]
"""Called with the part of the file that has been read, 0 to 1."""


class Source:
    """A file as its importer reads it: gzip is undone, by content and not by name, and a byte order
    mark of UTF-8 is left out."""

    def __init__(self, path: str | os.PathLike[str], tell: Tell = lambda _: None) -> None:
        """Raises RlscopeError: it cannot be opened."""
        self.path = Path(path)
        self.tell = tell
        try:
            self._file = open(self.path, "rb")
            self._size = max(os.fstat(self._file.fileno()).st_size, 1)
            self.is_gzip = self._file.peek(len(_GZIP)).startswith(_GZIP)
        except OSError as error:
            raise RlscopeError(f"cannot read {self.path}: {error.strerror}") from error
        self._has_begun = False
        self._content: IO[bytes] = (
            gzip.GzipFile(fileobj=self._file) if self.is_gzip else self._file  # type: ignore[assignment]
        )

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; empty at the end. Raises RlscopeError: the file is damaged."""
        content = self._read(size)
        if not self._has_begun:
            self._has_begun = True
            if content.startswith(_BYTE_ORDER_MARK):
                return content[len(_BYTE_ORDER_MARK) :] or self._read(size)
        return content

    def _read(self, size: int) -> bytes:
        try:
            content = self._content.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise RlscopeError(f"{self.path} is damaged: {error}") from error
        except OSError as error:
            raise RlscopeError(f"cannot read {self.path}: {error.strerror}") from error
        self.tell(min(self._file.tell() / self._size, 1.0))
        return content

    def uncompressed_path(self) -> str:
        """A name for libraries that open files themselves: it means this file and no pattern.

        Raises RlscopeError: the file is compressed.
        """
        if self.is_gzip:
            raise RlscopeError(
                f"{self.path} is compressed, and cannot be read as a stream: unpack it with gunzip"
            )
        return f"/proc/self/fd/{self._file.fileno()}"

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
    """What a file holds of one process."""

    @property
    def span_ns(self) -> tuple[int, int]:
        """First start and last end of what was taken, by the file's own clock."""

    @property
    def os_pid(self) -> int:
        """0: not known."""

    @property
    def name(self) -> str:
        """The name of the program; empty: not known."""

    @property
    def host(self) -> str:
        """The machine's name; empty: the file does not say."""

    @property
    def devices(self) -> Sequence[int]:
        """Numbers of the GPUs that the process has rows of."""

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
    """Whether a file is of this kind, by as many of its first bytes as are given."""
    scan: Callable[[Source, _trace.SpillFile, Collection[str]], Sequence[Scan]]
    """Reads a file: its processes, at least one.

    The names are those that the user calls operations, for files in which no row says so.

    Raises RlscopeError: it is damaged, or nothing in it can be taken.
    """
    marks: Mapping[str, str] = field(default_factory=dict)
    """Relation -> what makes a row of it in such a file, for users who miss one: `operation`,
    `iteration`, `native_call`, `wait`. One that is not named never has any."""
    is_general: bool = False
    """Takes files that another importer may know better from more of their first bytes."""


@dataclass(frozen=True)
class ProcessScan:
    """A process whose rows are in a `_trace.ImportedRows`: what all importers have in common."""

    rows: _trace.ImportedRows
    base_ns: int = 0
    """Added to every time of the rows."""
    host: str = ""
    noted: Mapping[str, object] = field(default_factory=dict)
    """What else the file says of the process."""
    with_others: Mapping[str, int] = field(default_factory=dict)
    """Rows that were not taken, of processes of which nothing was."""

    @property
    def _facts(self) -> dict[str, Any]:
        return self.rows.facts

    @property
    def span_ns(self) -> tuple[int, int]:
        return self._facts["first_ns"] + self.base_ns, self._facts["last_ns"] + self.base_ns

    @property
    def os_pid(self) -> int:
        return int(self._facts["os_pid"])

    @property
    def name(self) -> str:
        return str(self._facts["name"])

    @property
    def devices(self) -> Sequence[int]:
        return [int(number) for number in self._facts["devices"]]

    @property
    def taken(self) -> Mapping[str, int]:
        return dict(self._facts["taken"])

    @property
    def not_taken(self) -> Mapping[str, int]:
        return Counter(self._facts["not_taken"]) + Counter(self.with_others)

    def notes(self) -> dict[str, object]:
        notes = dict(self.noted)
        if not self._facts["has_gpu_work"]:
            notes[cuda_rows.NOTE] = {"missing": "all", "problem": _NO_GPU}
        return notes

    def write(
        self, path: str, *, start_time: int, shift_ns: int, metadata: Mapping[str, str]
    ) -> None:
        self.rows.write(
            path,
            start_time=start_time,
            shift_ns=self.base_ns + shift_ns,
            host=self.host,
            metadata=dict(metadata),
        )


def with_rows(source: Source, scans: Sequence[ProcessScan]) -> list[ProcessScan]:
    """The processes of a file that have rows; what was not taken stays counted.

    Raises RlscopeError: there is none, or their times are no times of one recording.
    """
    found = [scan for scan in scans if not scan.rows.facts["empty"]]
    left_out: Counter[str] = Counter()
    for scan in scans:
        if scan not in found:
            left_out.update(scan.not_taken)
    if not found:
        raise RlscopeError(f"{source.path} has no row that rlscope can import{_instead(left_out)}")
    span_ns = max(scan.span_ns[1] for scan in found) - min(scan.span_ns[0] for scan in found)
    if span_ns > _LONGEST_NS:
        days = span_ns // (24 * 3600 * 10**9)
        raise RlscopeError(f"{source.path} is damaged: its times lie {days:,} days apart")
    return [replace(found[0], with_others=left_out), *found[1:]]


def _instead(not_taken: Counter[str]) -> str:
    found = not_taken.most_common(3)
    return f"; it has {', '.join(f'{count:,} {what}' for what, count in found)}" if found else ""


def has_real_clock(scans: Sequence[Scan]) -> bool:
    """Whether the file's times are those of the world, so that files of one job can be aligned."""
    return start_ns(scans) >= _LEAST_REAL_NS


def start_ns(scans: Sequence[Scan]) -> int:
    """The first start of the processes of a file, by its own clock."""
    return min(scan.span_ns[0] for scan in scans)
